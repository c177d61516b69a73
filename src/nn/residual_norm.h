#pragma once

#include "nn/layers.h"

namespace tessera::nn {

// norm(x + dropout(part)): the end of a residual branch. With kernels for it, one pass over memory
// forward and one backward.
//   x, part   [..., width]
//   share     of the elements that dropout zeros
at::Tensor residual_norm(const at::Tensor& x, const PendingBias& part, const LayerNorm& norm,
                         double share, Mode mode);

}  // namespace tessera::nn
