#pragma once

#include <cstdint>

namespace tessera::kernels {

// Normalisation of pictures over groups of channels and positions, with what comes before and after
// it. Pictures are bfloat16 with the channels last; all is computed in float32. With w, b a
// channel's weight and bias, s, t its film and o its offset (0 without one):
//   n = (x + o - mean) * inverse,  h = (n * w + b) * (1 + s) + t,  y = silu(h) or h
struct GroupNorm {
  int64_t samples;
  int positions, channels, groups;  // channels a multiple of 8, at most 2048, and of groups
  float eps;                        // inverse = 1 / sqrt(variance + eps)
  bool silu;
  // All 16-byte aligned.
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
  const float* mean;  // as the forward pass left them
  const float* inverse;
  const void* dy;  // as x
  void* dx;        // as x
  // Sums over positions of dL/dh * n, of dL/dh and of dL/dx: what the other gradients are made of.
  float* d_gain;    // [samples, channels]
  float* d_lift;    // [samples, channels]
  float* d_offset;  // [samples, channels], or null: not asked for
};

namespace cuda {
void group_norm(const GroupNormForward& problem, void* stream);
void group_norm_backward(const GroupNormBackward& problem, void* stream);
}  // namespace cuda

}  // namespace tessera::kernels
