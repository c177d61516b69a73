#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// The result of a product whose bias is not added yet. The next operation adds it in a pass that it
// makes anyway.
struct PendingBias {
  at::Tensor y;     // [..., channels]
  at::Tensor bias;  // [channels], still to be added; undefined: nothing is left to add

  at::Tensor sum() const { return bias.defined() ? y.add(bias) : y; }
};

}  // namespace tessera::nn
