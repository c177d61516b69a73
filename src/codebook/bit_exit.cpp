#include "codebook/bit_exit.h"

#include "base/infinity.h"
#include "kernels/bit_exit.h"
#include "tensor/device.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera {
namespace {

// kernels/bit_exit.h in LibTorch operations, for float64.
BitExitRatio double_exit_ratio(const at::Tensor& x0, const at::Tensor& eps,
                               const at::Tensor& patterns) {
  const at::Tensor bit = at::arange(x0.size(-1), x0.options().dtype(at::kLong));
  BitExitRatio exit;
  exit.patterns = patterns.defined() ? patterns : bit_patterns(x0);
  const at::Tensor set =
      at::bitwise_and(at::bitwise_right_shift(exit.patterns.unsqueeze(-1), bit), 1).to(at::kBool);
  const at::Tensor a = at::where(set, x0, -x0), b = at::where(set, -eps, eps);
  const double tiny = 0.5e-6 * std::sqrt(static_cast<double>(x0.size(-1)));
  const at::Tensor tiny_a = tiny * at::norm(x0, 2, {-1}, true);
  const at::Tensor tiny_b = tiny * at::norm(eps, 2, {-1}, true);
  const at::Tensor at_tie = at::where(b > tiny_b, at::full_like(b, kInfinity), -kInfinity);
  const at::Tensor no_cell = exit.patterns < 0;
  exit.outside = (a < -tiny_a).any(-1).logical_and_(no_cell.logical_not());
  exit.ratio = at::where(a > tiny_a, b / a, at_tie)
                   .amax(-1)
                   .masked_fill_(exit.outside.logical_or(no_cell), kInfinity);
  return exit;
}

}  // namespace

at::Tensor bit_patterns(const at::Tensor& x) {
  const at::Tensor bit = at::arange(x.size(-1), x.options().dtype(at::kLong));
  return at::bitwise_left_shift((x > 0).to(at::kLong), bit).sum(-1);
}

BitExitRatio bit_exit_ratio(const at::Tensor& x0, const at::Tensor& eps,
                            const at::Tensor& patterns) {
  if (x0.scalar_type() == at::kDouble) return double_exit_ratio(x0, eps, patterns);
  const at::IntArrayRef shape = x0.sizes().slice(0, x0.dim() - 1);
  const at::Tensor start = x0.contiguous(), end = eps.contiguous();
  BitExitRatio exit{
      patterns.defined() ? patterns.contiguous() : at::empty(shape, x0.options().dtype(at::kLong)),
      at::empty(shape, start.options()), at::empty(shape, start.options().dtype(at::kBool))};
  const kernels::BitExit problem{.x0 = start.const_data_ptr<float>(),
                                 .eps = end.const_data_ptr<float>(),
                                 .n = exit.patterns.numel(),
                                 .width = static_cast<int>(x0.size(-1)),
                                 .decode = !patterns.defined(),
                                 .patterns = exit.patterns.data_ptr<int64_t>(),
                                 .ratio = exit.ratio.mutable_data_ptr<float>(),
                                 .outside = exit.outside.mutable_data_ptr<bool>()};
  if (start.is_cuda()) {
    on_cuda(start.device(), [&](void* stream) { kernels::cuda::bit_exit(problem, stream); });
  } else {
    kernels::cpu::bit_exit(problem);
  }
  return exit;
}

}  // namespace tessera
