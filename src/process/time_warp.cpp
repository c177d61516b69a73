#include <tessera/process/time_warp.h>

#include "base/require.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera {

TimeWarp::TimeWarp(int64_t horizon, int64_t positions, at::Device device) {
  require_option(horizon >= 1 && positions >= 1,
                 "a time warp needs a horizon and positions of at least 1, got {} and {}", horizon,
                 positions);
  table_ = at::arange(horizon + 1, at::TensorOptions().dtype(at::kDouble))
               .unsqueeze(1)
               .repeat({1, positions})
               .to(device);
}

at::Tensor TimeWarp::operator()(const at::Tensor& t, int64_t length) const {
  require(t.dim() == 1 && t.is_floating_point() && t.device() == table_.device(),
          "a time warp takes floating-point times [B] on the device of its table");
  const c10::NoGradGuard no_grad;
  const at::Tensor time = t.to(at::kDouble);
  // The second clamp is for NaN, as in trajectory.cpp.
  const at::Tensor row =
      time.floor().clamp(0, horizon() - 1).to(at::kLong).clamp_(0, horizon() - 1);
  const at::Tensor below = table_.index_select(0, row), above = table_.index_select(0, row + 1);
  at::Tensor tau = at::lerp(below, above, (time - row).unsqueeze(1));
  if (length <= positions()) {
    tau = tau.narrow(1, 0, length);
  } else {
    const at::Tensor last = tau.narrow(1, positions() - 1, 1);
    tau = at::cat({tau, last.expand({-1, length - positions()})}, 1);
  }
  return tau.to(t.scalar_type());
}

}  // namespace tessera
