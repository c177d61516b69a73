#pragma once

#include "kernels/cpu/int8.h"
#include "nn/key_cache.h"

#include <vector>

namespace tessera::nn {

// A stack of Transformer layers in 8 bits, on a CPU: a few passes over the rows of some sequences
// in place of hundreds of operations, and no work for padding.
class Int8Transformer {
 public:
  explicit Int8Transformer(kernels::cpu::Int8Stack stack) : stack_(std::move(stack)) {}

  // As Transformer's, with bias [B * n or 1, 1, 1, L]. The result is 0 at positions that no other
  // may see.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& bias,
                        const std::vector<Memory>& memories, const at::Tensor& memory_bias) const;

 private:
  kernels::cpu::Int8Stack stack_;
};

}  // namespace tessera::nn
