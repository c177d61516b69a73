#include "seq2seq/generation_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::seq2seq {
namespace {

TEST(GenerationBatches, PadsToFewLengthsWithinTheLimit) {
  EXPECT_EQ(padded_length(1, 512), 4);
  EXPECT_EQ(padded_length(4, 512), 4);
  EXPECT_EQ(padded_length(29, 512), 32);
  EXPECT_EQ(padded_length(33, 512), 40);
  EXPECT_EQ(padded_length(511, 512), 512);
  EXPECT_EQ(padded_length(9, 10), 10);
}

class GenerationBatchesWithOverhead : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Overheads, GenerationBatchesWithOverhead, testing::Values(0, 100, 100000));

TEST_P(GenerationBatchesWithOverhead, HoldEverySentenceOnceWithinTheirSize) {
  const int64_t overhead = GetParam();
  std::vector<SentenceSize> sizes;
  for (int64_t k = 0; k < 500; ++k) sizes.push_back({1 + k * 7 % 60, 1 + k * 13 % 60});
  const int64_t candidates = 5, tokens = 2000;
  std::vector<size_t> seen;
  for (const GenerationBatch& batch : plan_batches(sizes, {candidates, tokens, 512, overhead})) {
    EXPECT_LE(static_cast<int64_t>(batch.sentences.size()) * candidates * batch.target, tokens);
    for (const size_t sentence : batch.sentences) {
      EXPECT_LE(sizes[sentence].source, batch.source);
      EXPECT_LE(sizes[sentence].target, batch.target);
      seen.push_back(sentence);
    }
  }
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), sizes.size());
  for (size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], k);
}

TEST(GenerationBatches, TakeASentenceThatIsLargerThanABatch) {
  const std::vector<SentenceSize> sizes{{100, 100}, {2, 2}};
  const auto batches = plan_batches(sizes, {5, 10, 512, 0});
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_THAT(batches[0].sentences, testing::ElementsAre(0));
}

TEST(GenerationBatches, PadOnlyWhereThatIsCheaperThanAnotherBatch) {
  std::vector<SentenceSize> sizes(400, {9, 30});
  sizes.resize(800, {9, 5});
  // 400 sentences x 5 candidates x (32 - 8) positions are 48,000 tokens of padding.
  const auto apart = plan_batches(sizes, {5, 1000000, 512, 40000});
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].target, 32);
  EXPECT_EQ(apart[1].target, 8);
  EXPECT_EQ(plan_batches(sizes, {5, 1000000, 512, 50000}).size(), 1u);
}

TEST(GenerationBatches, AreOfEqualSizeWhereALengthFillsSeveral) {
  const std::vector<SentenceSize> sizes(101, {9, 8});
  const auto batches = plan_batches(sizes, {1, 8 * 100, 512, 0});
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].sentences.size(), 50u);
  EXPECT_EQ(batches[1].sentences.size(), 51u);
}

TEST(GenerationBatches, AreNoneForNoSentences) {
  EXPECT_TRUE(plan_batches({}, {}).empty());
}

}  // namespace
}  // namespace tessera::seq2seq
