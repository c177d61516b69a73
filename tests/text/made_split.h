#pragma once

#include "corpus/split.h"

#include <tessera/tensor/random.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::test {

// Pairs of sentences of the given lengths (source, target; end symbols included). The ids of
// sentence k identify it: all are 4 + k % 97 on the source side, 4 + k % 89 on the other.
inline corpus::Split made_split(const std::vector<std::pair<int64_t, int64_t>>& lengths) {
  std::vector<std::vector<text::Id>> source, target;
  for (size_t k = 0; k < lengths.size(); ++k) {
    source.emplace_back(lengths[k].first, static_cast<text::Id>(4 + k % 97));
    target.emplace_back(lengths[k].second, static_cast<text::Id>(4 + k % 89));
    source.back().back() = target.back().back() = text::Dictionary::kEos;
  }
  return {corpus::Sentences::copy_of(source), corpus::Sentences::copy_of(target)};
}

// Lengths as in a corpus of captions or talks: log-normal around `median`, the two sides alike.
inline std::vector<std::pair<int64_t, int64_t>> natural_lengths(int64_t count, double median,
                                                                double spread) {
  RandomStream random({7, Purpose::test, 0});
  std::vector<std::pair<int64_t, int64_t>> lengths;
  for (int64_t k = 0; k < count; ++k) {
    const double common = median * std::exp(spread * random.normal());
    const auto side = [&] {
      return std::max<int64_t>(2, std::llround(common * std::exp(0.15 * random.normal())));
    };
    const int64_t source = side();
    lengths.emplace_back(source, side());
  }
  return lengths;
}

}  // namespace tessera::test
