#pragma once

#include <cstdint>

namespace tessera::kernels {

constexpr int kMaxNormChannels = 1024;  // of a row, which is kept in registers

// Normalisation of the rows of a sum, one summand of which had a bias and dropout. Rows are
// bfloat16, all is computed in float32. With k 1 where an element is kept and 0 elsewhere:
//   s = x + (part + bias) * k * keep,  n = (s - mean) * inverse,  y = n * scale + shift
struct ResidualNorm {
  int64_t rows;
  int channels;  // a multiple of 8, at most kMaxNormChannels
  float keep;    // what kept elements are multiplied by
  float eps;     // inverse = 1 / sqrt(variance + eps)
  // All 16-byte aligned.
  const void* x;        // [rows, channels] bfloat16
  const void* part;     // as x
  const void* bias;     // [channels] bfloat16, or null
  const uint8_t* kept;  // [rows, channels], 0 or 1; or null: all are
  const void* scale;    // [channels] bfloat16
  const void* shift;    // [channels] bfloat16
  void* y;              // as x
  // For the gradient; all null where none is asked for.
  void* sum;       // s, as x
  float* mean;     // [rows]
  float* inverse;  // [rows]
};

struct ResidualNormBackward {
  int64_t rows;
  int channels;
  float keep;
  const uint8_t* kept;
  const void* scale;
  const void* sum;  // as the forward pass left them
  const float* mean;
  const float* inverse;
  const void* dy;  // as x
  void* dx;        // as x
  void* d_part;    // as x, or null where `kept` is: it is dx then
  int64_t blocks;  // that share the rows, as residual_norm_blocks() says
  float* sums;     // [blocks, 3, channels]: parts of the gradients of scale, shift and bias
};

namespace cuda {
void residual_norm(const ResidualNorm& problem, void* stream);
int64_t residual_norm_blocks(int64_t rows);
void residual_norm_backward(const ResidualNormBackward& problem, void* stream);
}  // namespace cuda

}  // namespace tessera::kernels
