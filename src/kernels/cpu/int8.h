#pragma once

#include "kernels/int8_matrix.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::kernels::cpu {

// A layer normalisation: scale and shift of every channel.
struct Int8Norm {
  const float *scale = nullptr, *shift = nullptr;
};

struct Int8Linear {
  const Int8Matrix* matrix = nullptr;
  const float* bias = nullptr;  // null for none
};

// A layer of a Transformer.
struct Int8Layer {
  Int8Linear in, out;  // queries, keys and values of self-attention in one product
  Int8Norm self_norm;
  Int8Linear queries, cross_out;  // of attention to a memory; without a matrix: no such part
  Int8Norm cross_norm;
  Int8Linear up, down;
  Int8Norm feedforward_norm;
};

// A stack of layers, with the sizes that they share.
struct Int8Stack {
  int64_t width = 0, feedforward = 0, heads = 1;
  bool norm_first = false;  // a part's input is normalised; else the sum of its input and output
  bool gelu = false;        // else the positive part
  float eps = 0;            // added to variances
  std::vector<Int8Layer> layers;
  Int8Norm last_norm;  // if norm_first
};

// Keys and values that a layer attends to; the heads of a position lie side by side.
struct Int8Memory {
  const float *keys = nullptr, *values = nullptr;
  int64_t stride = 0;  // from one position to the next
};

// A sequence on its way through a stack.
struct Int8Sequence {
  int64_t length = 0;
  const Int8Memory* memories = nullptr;  // of every layer, or null
  int64_t memory_length = 0;
};

// The loops of networks that compute in 8 bits, compiled once per instruction set. Inputs of
// products are rounded row by row: 8 bits between a row's smallest and largest value.
struct Int8Kernels {
  std::string_view name;

  // A linear layer.   x [rows, inputs], y [rows, outputs]
  void (*linear)(const Int8Linear& layer, const float* x, int64_t rows, float* y);

  // All layers for some sequences, in the calling thread.
  //   x  [positions of all sequences, width], one sequence after the other; replaced by the result
  void (*run)(const Int8Stack& stack, const std::vector<Int8Sequence>& sequences, float* x);
};

// The ones this machine can run, best first; empty if it has none.
const std::vector<const Int8Kernels*>& available_int8_kernels();

}  // namespace tessera::kernels::cpu
