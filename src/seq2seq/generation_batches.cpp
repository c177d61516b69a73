#include "seq2seq/generation_batches.h"

#include "base/rounding.h"
#include "seq2seq/generation_options.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace tessera::seq2seq {
namespace {

// Sentences with one padded target length: a range of all sentences in descending order.
struct Group {
  int64_t target = 0;
  size_t begin = 0, end = 0;
};

int64_t rows_of_batch(int64_t target, const BatchLimits& limits) {
  return std::max<int64_t>(1, limits.tokens / (limits.candidates * target));
}

// The cost of `sentences` sentences that are padded to `target`.
int64_t cost(int64_t sentences, int64_t target, const BatchLimits& limits) {
  const int64_t rows = rows_of_batch(target, limits);
  return sentences * limits.candidates * target + ceil_div(sentences, rows) * limits.overhead;
}

// Divides the groups into runs that are batched together, at the least total cost. Returns where
// the runs begin, ascending.
std::vector<size_t> cheapest_runs(const std::vector<Group>& groups, const BatchLimits& limits) {
  std::vector<int64_t> best(groups.size() + 1, 0);  // cost of groups k .. end
  std::vector<size_t> stop(groups.size() + 1, 0);   // where the run that begins at k ends
  for (size_t k = groups.size(); k-- > 0;) {
    best[k] = std::numeric_limits<int64_t>::max();
    for (size_t end = k + 1; end <= groups.size(); ++end) {
      const auto sentences = static_cast<int64_t>(groups[end - 1].end - groups[k].begin);
      const int64_t total = cost(sentences, groups[k].target, limits) + best[end];
      if (total < best[k]) std::tie(best[k], stop[k]) = std::pair(total, end);
    }
  }
  std::vector<size_t> begins;
  for (size_t k = 0; k < groups.size(); k = stop[k]) begins.push_back(k);
  return begins;
}

}  // namespace

void SourceSentence::shorten_to(int64_t symbols) {
  if (static_cast<int64_t>(ids.size()) <= symbols) return;
  ids.resize(static_cast<size_t>(symbols));
  ids.back() = text::Dictionary::kEos;
}

int64_t padded_length(int64_t length, int64_t limit) {
  const int64_t step = length <= 32 ? 4 : 8;
  return std::min(round_up(length, step), limit);
}

std::vector<GenerationBatch> plan_batches(std::span<const SentenceSize> sizes,
                                          const BatchLimits& limits) {
  std::vector<SentenceSize> padded;
  for (const SentenceSize& size : sizes)
    padded.push_back({padded_length(size.source, limits.positions),
                      padded_length(size.target, limits.positions)});
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(padded[a].target, padded[a].source) >
           std::tie(padded[b].target, padded[b].source);
  });
  std::vector<Group> groups;
  for (size_t k = 0; k < order.size(); ++k) {
    const int64_t target = padded[order[k]].target;
    if (groups.empty() || groups.back().target != target) groups.push_back({target, k, k});
    groups.back().end = k + 1;
  }

  std::vector<GenerationBatch> batches;
  std::vector<size_t> runs = cheapest_runs(groups, limits);
  runs.push_back(groups.size());
  for (size_t run = 0; run + 1 < runs.size(); ++run) {
    const Group& first = groups[runs[run]];
    const size_t end = groups[runs[run + 1] - 1].end, count = end - first.begin;
    const auto rows = static_cast<size_t>(rows_of_batch(first.target, limits));
    const size_t parts = ceil_div(count, rows);
    for (size_t part = 0; part < parts; ++part) {  // of equal size, as far as possible
      GenerationBatch& batch = batches.emplace_back();
      for (size_t k = first.begin + part * count / parts;
           k < first.begin + (part + 1) * count / parts; ++k) {
        batch.sentences.push_back(order[k]);
        batch.source = std::max(batch.source, padded[order[k]].source);
        batch.target = std::max(batch.target, padded[order[k]].target);
      }
    }
  }
  return batches;
}

// Estimates. A step launches a few hundred kernels, which takes about 2 ms. In this time a large
// GPU computes thousands of tokens.
int64_t batch_overhead(at::Device device) {
  constexpr int64_t kCuda = 8000, kCpu = 64;
  return device.is_cpu() ? kCpu : kCuda;
}

int64_t largest_useful_batch(at::Device device) {
  constexpr int64_t kCpu = 4096;
  return device.is_cpu() ? kCpu : std::numeric_limits<int64_t>::max();
}

at::Tensor sample_numbers(std::span<const SourceSentence> sentences, const GenerationBatch& batch,
                          int64_t candidates, at::Device device) {
  std::vector<int64_t> numbers;
  for (const size_t place : batch.sentences)
    for (int64_t k = 0; k < candidates; ++k)
      numbers.push_back(sentences[place].noise * kMaxCandidates + k);
  return at::tensor(numbers, at::kLong).to(device);
}

at::Tensor sample_seeds(std::span<const SourceSentence> sentences, const GenerationBatch& batch,
                        int64_t candidates, at::Device device) {
  std::vector<int64_t> seeds;
  for (const size_t place : batch.sentences)
    seeds.insert(seeds.end(), static_cast<size_t>(candidates),
                 static_cast<int64_t>(sentences[place].seed));
  return at::tensor(seeds, at::kLong).to(device);
}

at::Tensor padded_sources(std::span<const SourceSentence> sentences, const GenerationBatch& batch,
                          at::Device device) {
  const auto rows = static_cast<int64_t>(batch.sentences.size());
  at::Tensor ids = at::full({rows, batch.source}, int64_t{text::Dictionary::kPad}, at::kLong);
  auto* row = ids.mutable_data_ptr<int64_t>();
  for (const size_t place : batch.sentences) {
    std::copy(sentences[place].ids.begin(), sentences[place].ids.end(), row);
    row += batch.source;
  }
  return ids.to(device);
}

}  // namespace tessera::seq2seq
