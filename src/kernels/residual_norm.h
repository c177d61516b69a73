#pragma once

#include <cstdint>

namespace tessera::kernels {

constexpr int kMaxNormChannels = 1024;  // per row: a row is kept in registers

// Normalisation of the rows of a sum, one summand of which may have a bias and dropout. Rows are
// bfloat16, everything is computed in float32. k is 1 if an element is kept, else 0:
//   s = x + (part + bias) * k * keep,  n = (s - mean) * inverse,  y = n * scale + shift
struct ResidualNorm {
  int64_t rows;
  int channels;  // a multiple of 8, at most kMaxNormChannels
  float keep;    // kept elements are multiplied by this
  float eps;     // inverse = 1 / sqrt(variance + eps)
  // All pointers are 16-byte aligned.
  const void* x;        // [rows, channels] bfloat16
  const void* part;     // as x
  const void* bias;     // [channels] bfloat16, or null
  const uint8_t* kept;  // [rows, channels], 0 or 1; or null: all are kept
  const void* scale;    // [channels] bfloat16
  const void* shift;    // [channels] bfloat16
  void* y;              // as x
  // For the gradient; all null if none is wanted.
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
  const void* sum;  // from the forward pass
  const float* mean;
  const float* inverse;
  const void* dy;  // as x
  void* dx;        // as x
  void* d_part;    // as x; null if `kept` is null: it then equals dx
  int64_t blocks;  // share the rows; see residual_norm_blocks()
  float* sums;     // [blocks, 3, channels]: parts of the gradients of scale, shift and bias
};

namespace cuda {
void residual_norm(const ResidualNorm& problem, void* stream);
int64_t residual_norm_blocks(int64_t rows);
void residual_norm_backward(const ResidualNormBackward& problem, void* stream);
}  // namespace cuda

}  // namespace tessera::kernels
