#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define TESSERA_HOST_DEVICE __host__ __device__
#else
#define TESSERA_HOST_DEVICE
#endif

namespace tessera::kernels {

struct Philox4 {
  uint32_t word[4];
};

// Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
TESSERA_HOST_DEVICE inline Philox4 philox(Philox4 counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter.word[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0,
                static_cast<uint32_t>(product1),
                static_cast<uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1,
                static_cast<uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// The counter of a block of four words of a stream. The upper half of a sample number shares a word
// with the purpose, so sample numbers may have 56 bits.
TESSERA_HOST_DEVICE inline Philox4 stream_counter(uint32_t purpose, uint32_t step, uint64_t sample,
                                                  uint32_t block) {
  return {{block, static_cast<uint32_t>(sample), step,
           purpose | static_cast<uint32_t>(sample >> 32) << 8}};
}

// A batch of streams: element `position` of row i comes from block position / 4 of the stream of
// samples[i].
struct StreamBatch {
  uint64_t seed;  // of all rows, if `seeds` is null
  uint32_t purpose, step;
  const int64_t* samples;  // [rows]
  int64_t rows, columns;
  const int64_t* seeds = nullptr;  // [rows], one seed per row, or null
};

TESSERA_HOST_DEVICE inline Philox4 stream_block(const StreamBatch& batch, int64_t row,
                                                int64_t block) {
  const uint64_t seed =
      batch.seeds == nullptr ? batch.seed : static_cast<uint64_t>(batch.seeds[row]);
  return philox(stream_counter(batch.purpose, batch.step, static_cast<uint64_t>(batch.samples[row]),
                               static_cast<uint32_t>(block)),
                static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

// Words to numbers. Uniforms are in (0, 1], so that their logarithm is finite; normals come in
// pairs (Box-Muller): words (0, 1) make elements 0 and 1 of a block, words (2, 3) make 2 and 3.
TESSERA_HOST_DEVICE inline float positive_uniform(uint32_t word) {
  return (static_cast<float>(word >> 8) + 0.5f) * (1.0f / 16777216.0f);
}

// In [0, 1), with all 53 bits of a float64.
TESSERA_HOST_DEVICE inline double precise_uniform(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * (1.0 / 9007199254740992.0);
}

namespace cpu {
void normal(const StreamBatch& batch, float scale, float* out);  // out [rows, columns]
// out [rows, columns]: words (0, 1) and (2, 3) of a block make two numbers
void uniform(const StreamBatch& batch, double* out);
void integers(const StreamBatch& batch, int64_t low, uint64_t count,
              int64_t* out);  // out [rows], word 0 scaled
}  // namespace cpu
namespace cuda {
void normal(const StreamBatch& batch, float scale, float* out, void* stream);
void uniform(const StreamBatch& batch, double* out, void* stream);
void integers(const StreamBatch& batch, int64_t low, uint64_t count, int64_t* out, void* stream);
}  // namespace cuda

}  // namespace tessera::kernels
