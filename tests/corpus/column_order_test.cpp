#include "corpus/column_order.h"

#include <gtest/gtest.h>

#include <random>

namespace tessera::corpus {
namespace {

constexpr int64_t kSymbols = 40;

// Counts of random sentences. The words of a side are the symbols from its `first` on, the first
// being the most frequent.
SideCounts made(int source_first, int target_first, int pairs, unsigned seed) {
  std::mt19937 random(seed);
  std::geometric_distribution<int> word(0.2);
  const auto sentence = [&](int first) {
    std::vector<text::Id> ids;
    for (int k = 0; k < 10; ++k) ids.push_back(first + std::min(word(random), 20));
    return ids;
  };
  SideCounts counts(kSymbols);
  for (int k = 0; k < pairs; ++k) counts.add(sentence(source_first), sentence(target_first));
  return counts;
}

TEST(ColumnOrder, TellsSwappedColumns) {
  const SideCounts train = made(4, 12, 1000, 1);  // the two sides share most words
  EXPECT_TRUE(seem_swapped(made(12, 4, 50, 2), train));
  EXPECT_FALSE(seem_swapped(made(4, 12, 50, 3), train));
}

TEST(ColumnOrder, SuspectsNobodyWhereBothSidesAreAlike) {
  const SideCounts train = made(4, 4, 1000, 1);
  for (unsigned seed = 0; seed < 100; ++seed)
    EXPECT_FALSE(seem_swapped(made(4, 4, 1 + static_cast<int>(seed), seed), train)) << seed;
}

TEST(ColumnOrder, SuspectsNobodyWithoutSentences) {
  EXPECT_FALSE(seem_swapped(SideCounts(kSymbols), made(4, 12, 10, 1)));
  EXPECT_FALSE(seem_swapped(made(4, 12, 10, 1), SideCounts(kSymbols)));
}

}  // namespace
}  // namespace tessera::corpus
