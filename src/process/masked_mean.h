#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

// Mean over the elements that the mask selects; 0 if there are none. Uses no boolean index, so that
// shapes stay fixed.
//   per_element  any shape
//   mask         the same shape, bool (true: counted), or undefined: all are counted
at::Tensor masked_mean(const at::Tensor& per_element, const at::Tensor& mask);

}  // namespace tessera
