#include "process/masked_mean.h"

#include <ATen/ATen.h>

namespace tessera {

at::Tensor masked_mean(const at::Tensor& per_element, const at::Tensor& mask) {
  if (!mask.defined()) return per_element.numel() == 0 ? per_element.sum() : per_element.mean();
  const at::Tensor count = mask.sum().clamp_min(1);
  return at::where(mask, per_element, 0.0).sum() / count;
}

}  // namespace tessera
