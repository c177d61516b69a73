#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// Sinusoidal features of a time: [cos(t w_0) .. cos(t w_h-1) | sin(t w_0) .. sin(t w_h-1)],  with
// h = dim / 2 and w_k = 10000^(-k / h).
//   time  [B], any floating-point type
//   dim   even
//   returns [B, dim] float32
at::Tensor time_embedding(const at::Tensor& time, int64_t dim);

}  // namespace tessera::nn
