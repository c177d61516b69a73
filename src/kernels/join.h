#pragma once

#include <cstdint>

namespace tessera::kernels {

// y = (a + b + bias) * scale, for rows of bfloat16 with one bias per channel; computed in float32.
struct Join {
  int64_t rows;
  int channels;  // a multiple of 8, at most 2048
  float scale;
  const void* a;     // [rows, channels] bfloat16, 16-byte aligned
  const void* b;     // as a
  const void* bias;  // [channels] bfloat16, 16-byte aligned, or null
  void* y;           // as a
};

// The gradient of a, which is also that of b, and partial sums of the bias's gradient.
struct JoinBackward {
  int64_t rows;
  int channels;
  float scale;
  const void* dy;  // [rows, channels] bfloat16, 16-byte aligned
  void* d;         // as dy
  int64_t rows_of_part;
  float* sums;  // [rows / rows_of_part, rounded up; channels]: sums of d over the rows of a part
};

namespace cuda {
void join(const Join& problem, void* stream);
void join_backward(const JoinBackward& problem, void* stream);
}  // namespace cuda

}  // namespace tessera::kernels
