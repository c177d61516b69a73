#include <tessera/process/clock.h>

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>

namespace tessera {

Clock::Clock(double r_, double horizon_) : r(r_), horizon(horizon_) {
  require_option(r >= 0 && r <= 1, "r must be in [0, 1], got {}", r);
  require_option(horizon > 0, "the clock's horizon must be above 0, got {}", horizon);
}

at::Tensor Clock::tau(const at::Tensor& t, const at::Tensor& t0) const {
  require_defined(t, "t");
  require_defined(t0, "t0");
  at::Tensor time = t;
  if (t.dim() == 1 && t0.dim() > 1) {
    require(t.size(0) == 1 || t.size(0) == t0.size(0),
            "t must have one time per sample of t0 {}, got {}", shape_text(t0.sizes()),
            shape_text(t.sizes()));
    std::vector<int64_t> shape(t0.dim(), 1);
    shape[0] = t.size(0);
    time = t.reshape(shape);
  }
  return time + r * t0 * (1.0 - time / horizon);
}

at::Tensor Clock::speed(const at::Tensor& t0) const {
  require_defined(t0, "t0");
  return 1.0 - (r / horizon) * t0;
}

}  // namespace tessera
