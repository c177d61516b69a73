#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// What a product gave, with its bias left to what comes next, where that adds it in a pass that it
// makes anyway.
struct PendingBias {
  at::Tensor y;     // [..., channels]
  at::Tensor bias;  // [channels], still to be added; undefined: it has been, or there is none

  at::Tensor sum() const { return bias.defined() ? y.add(bias) : y; }
};

}  // namespace tessera::nn
