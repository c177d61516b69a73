#pragma once

#include "kernels/cpu/int8.h"
#include "nn/layers.h"

namespace tessera::nn {

// Whether this machine's CPU can compute in 8 bits.
bool has_int8_kernels();

// The kernels of such a machine.
const kernels::cpu::Int8Kernels& int8_kernels();

// A layer whose weights are in 8 bits, as the kernels take it. Valid as long as its Parameters are.
kernels::cpu::Int8Linear int8_form(const Linear& layer);

// layer(x) in 8 bits.   [..., inputs] float32 -> [..., outputs] float32
at::Tensor int8_linear(const Linear& layer, const at::Tensor& x);

}  // namespace tessera::nn
