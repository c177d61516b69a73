#pragma once

#include "nn/layers.h"

namespace tessera::nn {

// norm(x + dropout(part)): where the way through a part of a layer meets the way around it. One
// pass over memory each way where there are kernels for it.
//   x, part   [..., width]
//   share     that dropout zeros
at::Tensor residual_norm(const at::Tensor& x, const PendingBias& part, const LayerNorm& norm,
                         double share, Mode mode);

}  // namespace tessera::nn
