#include "kernels/philox.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace tessera::kernels::cpu {
namespace {

constexpr float kTwoPi = 6.28318530717958647692f;

void normal_pair(uint32_t word0, uint32_t word1, float scale, float* pair) {
  const float radius = scale * std::sqrt(-2.0f * std::log(positive_uniform(word0)));
  const float angle = kTwoPi * positive_uniform(word1);
  pair[0] = radius * std::cos(angle);
  pair[1] = radius * std::sin(angle);
}

}  // namespace

void normal(const StreamBatch& batch, float scale, float* out) {
  const int64_t blocks = (batch.columns + 3) / 4;
  at::parallel_for(0, batch.rows * blocks, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / blocks, block = i % blocks;
      const Philox4 words = stream_block(batch, row, block);
      float values[4];
      normal_pair(words.word[0], words.word[1], scale, values);
      normal_pair(words.word[2], words.word[3], scale, values + 2);
      const int64_t column = 4 * block;
      std::copy_n(values, std::min<int64_t>(4, batch.columns - column),
                  out + row * batch.columns + column);
    }
  });
}

void uniform(const StreamBatch& batch, double* out) {
  const int64_t blocks = (batch.columns + 1) / 2;
  at::parallel_for(0, batch.rows * blocks, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / blocks, block = i % blocks;
      const Philox4 words = stream_block(batch, row, block);
      double* const place = out + row * batch.columns + 2 * block;
      place[0] = precise_uniform(words.word[0], words.word[1]);
      if (2 * block + 1 < batch.columns) place[1] = precise_uniform(words.word[2], words.word[3]);
    }
  });
}

void integers(const StreamBatch& batch, int64_t low, uint64_t count, int64_t* out) {
  for (int64_t row = 0; row < batch.rows; ++row)
    out[row] =
        low + static_cast<int64_t>(uint64_t{stream_block(batch, row, 0).word[0]} * count >> 32);
}

}  // namespace tessera::kernels::cpu
