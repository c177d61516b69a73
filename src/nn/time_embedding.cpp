#include "nn/time_embedding.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::nn {

at::Tensor time_embedding(const at::Tensor& time, int64_t dim) {
  require(dim >= 2 && dim % 2 == 0, "the dimension of a time embedding must be even, got {}", dim);
  require_defined(time, "time");
  require(time.dim() == 1 && time.is_floating_point(),
          "time must be a floating-point tensor of shape [B], got {}", shape_text(time.sizes()));
  // In float32 a phase of 1,000 rad is off by 3e-5, and the two halves would disagree about it.
  const at::Tensor k = at::arange(dim / 2, time.options().dtype(at::kDouble));
  const at::Tensor frequency = at::exp(k * (-std::log(10000.0) / static_cast<double>(dim / 2)));
  const at::Tensor phase = time.to(at::kDouble).unsqueeze(-1) * frequency;
  return at::cat({at::cos(phase), at::sin(phase)}, -1).to(at::kFloat);
}

}  // namespace tessera::nn
