#include "codebook/bit_exit.h"

#include "base/device.h"
#include "kernels/bit_exit.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

namespace tessera {

BitExitRatio bit_exit_ratio(const at::Tensor& x0, const at::Tensor& eps,
                            const at::Tensor& patterns) {
  const at::IntArrayRef shape = x0.sizes().slice(0, x0.dim() - 1);
  const at::Tensor start = x0.to(at::kFloat).contiguous(), end = eps.to(at::kFloat).contiguous();
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
    const c10::DeviceGuard guard(start.device());
    kernels::cuda::bit_exit(problem, current_stream(start.device()));
  } else {
    kernels::cpu::bit_exit(problem);
  }
  return exit;
}

}  // namespace tessera
