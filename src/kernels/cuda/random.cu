#include "kernels/cuda/launch.h"
#include "kernels/philox.h"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__device__ float2 box_muller(uint32_t word0, uint32_t word1, float scale) {
  const float radius = scale * sqrtf(-2.0f * logf(positive_uniform(word0)));
  float sine;
  float cosine;
  sincospif(2.0f * positive_uniform(word1), &sine, &cosine);
  return make_float2(radius * cosine, radius * sine);
}

// Each thread makes the four elements of a Philox block.
__global__ void normal_kernel(const StreamBatch batch, float scale, float* out, bool aligned) {
  const int64_t blocks = (batch.columns + 3) / 4;  // per row
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < batch.rows * blocks;
       i += stride) {
    const int64_t row = i / blocks;
    const int64_t block = i % blocks;
    const Philox4 words = stream_block(batch, row, block);
    const float2 first = box_muller(words.word[0], words.word[1], scale);
    const float2 second = box_muller(words.word[2], words.word[3], scale);
    float* const place = out + row * batch.columns + block * 4;
    if (aligned) {
      *reinterpret_cast<float4*>(place) = make_float4(first.x, first.y, second.x, second.y);
      continue;
    }
    const float values[4] = {first.x, first.y, second.x, second.y};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (block * 4 + j < batch.columns) place[j] = values[j];
    }
  }
}

// Each thread makes the two elements of a Philox block.
__global__ void uniform_kernel(const StreamBatch batch, double* out) {
  const int64_t blocks = (batch.columns + 1) / 2;  // of a row
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < batch.rows * blocks;
       i += stride) {
    const int64_t row = i / blocks;
    const int64_t block = i % blocks;
    const Philox4 words = stream_block(batch, row, block);
    double* const place = out + row * batch.columns + block * 2;
    place[0] = precise_uniform(words.word[0], words.word[1]);
    if (block * 2 + 1 < batch.columns) place[1] = precise_uniform(words.word[2], words.word[3]);
  }
}

__global__ void integers_kernel(const StreamBatch batch, int64_t low, uint64_t count,
                                int64_t* out) {
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < batch.rows; i += stride) {
    const uint64_t word = stream_block(batch, i, 0).word[0];
    out[i] = low + static_cast<int64_t>(word * count >> 32);
  }
}

}  // namespace

void normal(const StreamBatch& batch, float scale, float* out, void* stream) {
  const int64_t blocks = batch.rows * ceil_div(batch.columns, 4);
  if (blocks == 0) return;
  launch("normal", normal_kernel, stride_grid(blocks, kThreads), kThreads, 0, stream, batch, scale,
         out, batch.columns % 4 == 0 && is_aligned(out));
}

void uniform(const StreamBatch& batch, double* out, void* stream) {
  const int64_t blocks = batch.rows * ceil_div(batch.columns, 2);
  if (blocks == 0) return;
  launch("uniform", uniform_kernel, stride_grid(blocks, kThreads), kThreads, 0, stream, batch, out);
}

void integers(const StreamBatch& batch, int64_t low, uint64_t count, int64_t* out, void* stream) {
  if (batch.rows == 0) return;
  launch("integers", integers_kernel, stride_grid(batch.rows, kThreads), kThreads, 0, stream, batch,
         low, count, out);
}

}  // namespace tessera::kernels::cuda
