#include "text/bpe_learner.h"

#include "files/files.h"
#include "text/fixtures.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::text {
namespace {

using test::kTextFixtures;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

WordCounts words_of(const std::string& text) {
  WordCounts counts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    count_words(std::string_view(text).substr(begin, end - begin), counts);
    begin = end + 1;
  }
  return counts;
}

TEST(BpeLearner, CountsWordsBetweenSpaces) {
  EXPECT_THAT(words_of("  a b  a\tb \r\n\nb\n"),
              UnorderedElementsAre(Pair("a", 1), Pair("b", 2), Pair("a\tb", 1)));
}

TEST(BpeLearner, MergesTheMostFrequentPairFirst) {
  const BpeCodes codes = learn_bpe({{"xab", 5}, {"ab", 3}, {"abc", 4}}, {.merges = 2});
  EXPECT_THAT(codes.merges, ElementsAre(Pair("a", "b</w>"), Pair("x", "ab</w>")));
}

TEST(BpeLearner, BreaksTiesByTheLargerPair) {
  const BpeCodes codes = learn_bpe({{"abx", 2}, {"üäx", 2}, {"zyx", 2}}, {.merges = 3});
  EXPECT_THAT(codes.merges, ElementsAre(Pair("ü", "ä"), Pair("üä", "x</w>"), Pair("z", "y")));
}

TEST(BpeLearner, StopsWherePairsAreTooRare) {
  EXPECT_TRUE(learn_bpe({{"ab", 1}, {"cd", 1}}, {}).merges.empty());
  EXPECT_EQ(learn_bpe({{"ab", 1}, {"cd", 1}}, {.min_frequency = 1}).merges.size(), 2u);
  EXPECT_EQ(learn_bpe({{"ab", 4}, {"cd", 1}}, {}).merges.size(), 1u);
  EXPECT_TRUE(learn_bpe({{"a", 9}}, {}).merges.empty()) << "no pairs at all";
  EXPECT_TRUE(learn_bpe({}, {}).merges.empty());
}

// tests/text/fixtures/README.md says how the expected files were made.
TEST(BpeLearner, EqualsSubwordNmt) {
  const BpeCodes codes =
      learn_bpe(words_of(read_file(kTextFixtures / "captions.txt")), {.merges = 120});
  EXPECT_EQ(codes.text(), read_file(kTextFixtures / "captions.codes"));
}

// Words of few letters, so that pairs often occur in a row, symbols are made in several ways, and
// pruned counts matter.
TEST(BpeLearner, EqualsSubwordNmtWhereItsCountsAreNotExact) {
  const BpeCodes codes =
      learn_bpe(words_of(read_file(kTextFixtures / "few_letters.txt")), {.merges = 2000});
  EXPECT_EQ(codes.text(), read_file(kTextFixtures / "few_letters.codes"));
}

TEST(BpeLearner, TellsHowManySymbolsThereAre) {
  std::vector<int64_t> symbols;
  const auto watch = [&](int64_t count) {
    symbols.push_back(count);
    return symbols.size() < 3;
  };
  // a b c d</w> | ab c d</w> | abc d</w> | abcd</w>
  learn_bpe({{"abcd", 9}, {"abc", 2}}, {.merges = 10, .after_merge = watch});
  EXPECT_EQ(symbols.size(), 3u);
  EXPECT_THAT(symbols, ElementsAre(4, 3, 3));
}

TEST(BpeLearner, RefusesSenselessOptions) {
  EXPECT_THROW(learn_bpe({{"ab", 3}}, {.merges = -1}), UsageError);
  EXPECT_THROW(learn_bpe({{"ab", 3}}, {.min_frequency = 0}), UsageError);
}

}  // namespace
}  // namespace tessera::text
