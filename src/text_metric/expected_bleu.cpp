#include "text_metric/expected_bleu.h"

#include "text_metric/bleu.h"
#include "text_metric/ngrams.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::text_metric {
namespace {

// The different n-grams of one candidate, order by order.
struct Profile {
  struct Entry {
    uint32_t ngram;  // numbered through all orders
    uint32_t count;
  };

  std::vector<Entry> entries;
  std::array<size_t, kBleuOrder> end{};  // of each order in entries
  int64_t length = 0;                    // symbols

  int64_t total(size_t n) const { return std::max<int64_t>(length - static_cast<int64_t>(n), 0); }
};

std::vector<Profile> profiles_of(std::span<const std::span<const int32_t>> candidates,
                                 size_t& ngrams_in_all) {
  std::vector<Profile> profiles(candidates.size());
  NgramNumbering ngrams(candidates);
  std::vector<uint32_t> sorted;
  uint32_t offset = 0;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    if (n > 0) ngrams.extend();
    for (size_t i = 0; i < profiles.size(); ++i) {
      auto& entries = profiles[i].entries;
      const size_t first = entries.size();
      sorted.assign(ngrams.of(i).begin(), ngrams.of(i).end());
      std::sort(sorted.begin(), sorted.end());
      for (const uint32_t ngram : sorted) {
        if (entries.size() > first && entries.back().ngram == offset + ngram)
          ++entries.back().count;
        else
          entries.push_back({offset + ngram, 1});
      }
      profiles[i].end[n] = entries.size();
    }
    offset += ngrams.count();
  }
  for (size_t i = 0; i < profiles.size(); ++i)
    profiles[i].length = static_cast<int64_t>(candidates[i].size());
  ngrams_in_all = offset;
  return profiles;
}

using Matches = std::array<uint32_t, kBleuOrder>;

//   counts  of every n-gram in the other candidate
Matches matches_of(const Profile& candidate, const std::vector<uint32_t>& counts) {
  Matches matches{};
  size_t at = 0;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    uint32_t sum = 0;
    for (; at < candidate.end[n]; ++at)
      sum += std::min(candidate.entries[at].count, counts[candidate.entries[at].ngram]);
    matches[n] = sum;
  }
  return matches;
}

// As bleu_of with effective order and exponential smoothing, by roots instead of logarithms.
double smoothed_bleu(const Matches& matches, const Profile& hypothesis, int64_t reference_length) {
  if (matches[0] == 0) return 0;
  double product = 1, halving = 1;
  int order = 0;
  for (size_t n = 0; n < kBleuOrder && hypothesis.total(n) > 0; ++n, ++order) {
    const auto total = static_cast<double>(hypothesis.total(n));
    product *= matches[n] > 0 ? matches[n] / total : 1 / ((halving *= 2) * total);
  }
  const double mean = order == 4   ? std::sqrt(std::sqrt(product))
                      : order == 3 ? std::cbrt(product)
                      : order == 2 ? std::sqrt(product)
                                   : product;
  if (hypothesis.length >= reference_length) return 100 * mean;
  return 100 * mean *
         std::exp(1 -
                  static_cast<double>(reference_length) / static_cast<double>(hypothesis.length));
}

}  // namespace

std::vector<double> expected_bleu(std::span<const std::span<const int32_t>> candidates) {
  std::vector<double> result(candidates.size());
  size_t ngrams = 0;
  const std::vector<Profile> profiles = profiles_of(candidates, ngrams);
  std::vector<uint32_t> counts(ngrams);
  for (size_t j = 0; j < profiles.size(); ++j) {
    for (const auto& [ngram, count] : profiles[j].entries) counts[ngram] = count;
    for (size_t i = 0; i < j; ++i) {
      const Matches matches = matches_of(profiles[i], counts);  // the same both ways
      result[i] += smoothed_bleu(matches, profiles[i], profiles[j].length);
      result[j] += smoothed_bleu(matches, profiles[j], profiles[i].length);
    }
    for (const auto& [ngram, count] : profiles[j].entries) counts[ngram] = 0;
  }
  for (double& sum : result) sum /= std::max<double>(static_cast<double>(result.size()) - 1, 1);
  return result;
}

}  // namespace tessera::text_metric
