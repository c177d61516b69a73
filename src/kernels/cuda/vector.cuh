#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <initializer_list>

#include "kernels/cuda/launch.h"

// Rows of bfloat16, read and written eight at a time and computed in float32.
namespace tessera::kernels::cuda {

constexpr int kVector = 8;     // of 16 bytes
constexpr int kWalkers = 256;  // threads of a block that walks over rows (at most 2,048 channels)

struct Eight {
  float value[kVector];
};

// Vector number `index` from the address `from` on. The kernel must not write to this memory.
__device__ inline Eight load(const void* from, int64_t index) {
  const uint4 bits = __ldg(static_cast<const uint4*>(from) + index);
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&bits);
  Eight result;
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    result.value[2 * i] = pair.x;
    result.value[2 * i + 1] = pair.y;
  }
  return result;
}

__device__ inline void store(void* to, int64_t index, const Eight& values) {
  uint4 bits;
  auto* pairs = reinterpret_cast<__nv_bfloat162*>(&bits);
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i)
    pairs[i] = __floats2bfloat162_rn(values.value[2 * i], values.value[2 * i + 1]);
  *(static_cast<uint4*>(to) + index) = bits;
}

// Throws if the kernels cannot walk over such rows, or cannot read this memory in vectors.
inline void check_rows(const char* name, int channels, std::initializer_list<const void*> rows) {
  if (channels % kVector != 0 || channels > kWalkers * kVector)
    throw std::runtime_error(std::string(name) + ": " + std::to_string(channels) +
                             " channels are not supported");
  for (const void* row : rows)
    if (!is_aligned(row)) throw std::runtime_error(std::string(name) + ": memory is not aligned");
}

// The place of a thread in a block that walks over rows. It always has the same eight channels.
struct Walk {
  int vectors;  // per row
  int vector;   // of this thread, within a row
  int row;      // first row of this thread
  int rows;     // read at once
  bool idle;    // the thread is left over

  __device__ explicit Walk(int channels)
      : vectors(channels / kVector),
        vector(static_cast<int>(threadIdx.x) % vectors),
        row(static_cast<int>(threadIdx.x) / vectors),
        rows(kWalkers / vectors),
        idle(row >= rows) {}

  __device__ int channel(int i) const { return vector * kVector + i; }
};

// Sums the values of all threads of a block, for each channel and each of `count` kinds of values:
// sums[s * channels + channel].
//   scratch   [count * kWalkers * kVector], 16-byte aligned
// At the end every thread can read the sums.
template <int count>
__device__ void sum_by_channel(const Eight (&own)[count], const Walk& walk, int channels,
                               float* scratch, float* sums) {
  const int size = walk.rows * channels;
  if (!walk.idle)
#pragma unroll
    for (int s = 0; s < count; ++s) {
      auto* place =
          reinterpret_cast<float4*>(scratch + s * size + walk.row * channels + walk.channel(0));
      const float* v = own[s].value;
      place[0] = {v[0], v[1], v[2], v[3]};
      place[1] = {v[4], v[5], v[6], v[7]};
    }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count * channels; i += kWalkers) {
    const float* column = scratch + i / channels * size + i % channels;
    float sum = 0;
#pragma unroll 4
    for (int row = 0; row < walk.rows; ++row) sum += column[row * channels];
    sums[i] = sum;
  }
  __syncthreads();
}

}  // namespace tessera::kernels::cuda
