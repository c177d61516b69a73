#include "model/generation_batches.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tessera::model {
namespace {

// The share of `tokens` from which on a batch takes no sentences of a shorter bucket.
constexpr int64_t kFullEnough = 6;

}  // namespace

int64_t padded_length(int64_t length, int64_t limit) {
  const int64_t step = length <= 32 ? 4 : 8;
  return std::min((length + step - 1) / step * step, limit);
}

std::vector<GenerationBatch> plan_batches(std::span<const SentenceSize> sizes, int64_t candidates,
                                          int64_t tokens, int64_t limit) {
  std::vector<SentenceSize> padded;
  for (const SentenceSize& size : sizes)
    padded.push_back({padded_length(size.source, limit), padded_length(size.target, limit)});
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(padded[a].target, padded[a].source) >
           std::tie(padded[b].target, padded[b].source);
  });

  std::vector<GenerationBatch> batches;
  for (const size_t sentence : order) {
    const SentenceSize& size = padded[sentence];
    const auto has_room = [&](const GenerationBatch& batch) {
      const int64_t row = candidates * batch.target;
      const auto used = static_cast<int64_t>(batch.sentences.size()) * row;
      return used + row <= tokens && (batch.target == size.target || used < tokens / kFullEnough);
    };
    if (batches.empty() || !has_room(batches.back())) batches.push_back({{}, 0, size.target});
    batches.back().sentences.push_back(sentence);
    batches.back().source = std::max(batches.back().source, size.source);
  }
  return batches;
}

}  // namespace tessera::model
