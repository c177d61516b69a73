#pragma once

#include <cstdint>

namespace tessera::kernels {

// Normalisation of pictures over groups of channels and positions, together with the operations
// before and after it. Pictures are bfloat16 with the channels last; everything is computed in
// float32. w and b are a channel's weight and bias, s and t its film, o its offset (0 if there is
// none):
//   n = (x + o - mean) * inverse,  h = (n * w + b) * (1 + s) + t,  y = silu(h) or h
struct GroupNorm {
  int64_t samples;
  int positions, channels, groups;  // channels: a multiple of 8 and of groups, at most 2048
  float eps;                        // inverse = 1 / sqrt(variance + eps)
  bool silu;
  // All pointers are 16-byte aligned.
  const void* x;       // [samples, positions, channels] bfloat16
  const void* weight;  // [channels] bfloat16
  const void* bias;    // [channels] bfloat16
  const void* film;    // [samples, 2 * channels] bfloat16: s, then t; or null
  const void* offset;  // [channels] bfloat16, or null
};

struct GroupNormForward {
  GroupNorm what;
  void* y;         // as x
  float* mean;     // [samples, groups]
  float* inverse;  // [samples, groups]
};

struct GroupNormBackward {
  GroupNorm what;
  const float* mean;  // from the forward pass
  const float* inverse;
  const void* dy;  // as x
  void* dx;        // as x
  // Sums over positions of dL/dh * n, of dL/dh and of dL/dx. The other gradients follow from them.
  float* d_gain;    // [samples, channels]
  float* d_lift;    // [samples, channels]
  float* d_offset;  // [samples, channels], or null: not wanted
};

namespace cuda {
void group_norm(const GroupNormForward& problem, void* stream);
void group_norm_backward(const GroupNormBackward& problem, void* stream);
}  // namespace cuda

}  // namespace tessera::kernels
