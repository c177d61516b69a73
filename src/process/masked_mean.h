#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

// Mean over the elements that count; 0 where none does. Without a boolean index, so that shapes
// stay fixed.
//   per_element  any shape
//   mask         the same shape, bool (true: counts), or undefined: all do
at::Tensor masked_mean(const at::Tensor& per_element, const at::Tensor& mask);

}  // namespace tessera
