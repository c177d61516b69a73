#pragma once

#include "text/dictionary.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::corpus {

// How often every symbol occurs on the two sides of a split.
struct SideCounts {
  std::vector<int64_t> source, target;  // [symbols]

  explicit SideCounts(int64_t symbols);
  void add(std::span<const text::Id> source_ids, std::span<const text::Id> target_ids);
};

// Whether the columns of a split seem to be swapped: judged by symbol frequencies, its sources read
// like the targets of training and its targets like the sources, by more than chance. Always false
// if both sides are of one language.
bool seem_swapped(const SideCounts& split, const SideCounts& train);

}  // namespace tessera::corpus
