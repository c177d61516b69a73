#pragma once

#include "kernels/cpu/int8.h"
#include "nn/key_cache.h"
#include "nn/layers.h"

#include <vector>

// Networks in 8 bits on a CPU: Precision::int8.
namespace tessera::nn {

// Whether this machine's CPU can compute in 8 bits.
bool has_int8_kernels();

// The kernels of such a machine.
const kernels::cpu::Int8Kernels& int8_kernels();

// A layer whose weights are in 8 bits, as the kernels take it. Valid as long as its Parameters are.
kernels::cpu::Int8Linear int8_form(const Linear& layer);

// layer(x) in 8 bits.   [..., inputs] float32 -> [..., outputs] float32
at::Tensor int8_linear(const Linear& layer, const at::Tensor& x);

// A stack of Transformer layers in 8 bits, on a CPU: a few passes over the rows of some sequences
// in place of hundreds of operations, and no work for padding.
class Int8Transformer {
 public:
  explicit Int8Transformer(kernels::cpu::Int8Stack stack) : stack_(std::move(stack)) {}

  // As Transformer's, with bias [B * n or 1, 1, 1, L]. Positions that no other may see stay as they
  // are in x.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& bias,
                        const std::vector<Memory>& memories, const at::Tensor& memory_bias) const;

 private:
  kernels::cpu::Int8Stack stack_;
};

}  // namespace tessera::nn
