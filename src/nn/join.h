#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// (a + b + bias) / sqrt(2): joins two branches of a residual network. The result is about as large
// as each of them.
//   a, b   [B, H, W, channels]
//   bias   [channels], or undefined: none
at::Tensor joined(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias = {});

}  // namespace tessera::nn
