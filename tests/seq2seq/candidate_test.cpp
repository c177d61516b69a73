#include "seq2seq/candidate.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::seq2seq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Candidate, EndsBeforeTheFirstEndSymbol) {
  const std::vector<text::Id> symbols{7, 8, text::Dictionary::kEos, 9, text::Dictionary::kEos};
  const std::vector<float> scores{-1, -2, -3, -50, -50};
  const Candidate candidate = cut_candidate(symbols, scores);
  EXPECT_THAT(candidate.ids, ElementsAre(7, 8));
  EXPECT_EQ(candidate.length, 5);
  EXPECT_DOUBLE_EQ(candidate.confidence, -2.0);  // of 7, 8 and the end
}

TEST(Candidate, WithoutAnEndSymbolIsAllThereIs) {
  const std::vector<text::Id> symbols{7, 8};
  const std::vector<float> scores{-1, -2};
  EXPECT_THAT(cut_candidate(symbols, scores).ids, ElementsAre(7, 8));
  EXPECT_DOUBLE_EQ(cut_candidate(symbols, scores).confidence, -1.5);
}

TEST(Candidate, MayBeEmpty) {
  const std::vector<text::Id> symbols{text::Dictionary::kEos, 8};
  const std::vector<float> scores{-4, -2};
  EXPECT_THAT(cut_candidate(symbols, scores).ids, IsEmpty());
  EXPECT_DOUBLE_EQ(cut_candidate(symbols, scores).confidence, -4);
  EXPECT_DOUBLE_EQ(cut_candidate({}, {}).confidence, 0);
}

Candidate made(std::vector<text::Id> ids, double confidence) {
  return {std::move(ids), 0, confidence, 0};
}

TEST(Choice, ByAgreementTakesTheOneMostLikeTheOthers) {
  std::vector<Candidate> candidates{made({9, 8, 7, 6, 5}, -0.1), made({1, 2, 3, 4, 9}, -3),
                                    made({1, 2, 3, 4, 5}, -2), made({1, 2, 3, 8, 5}, -1)};
  measure_agreement(candidates);
  EXPECT_EQ(choose(candidates, Selection::mbr), 2u);
  EXPECT_EQ(choose(candidates, Selection::confidence), 0u);
}

TEST(Choice, ByBothWeighsAgreementAgainstConfidence) {
  Candidate agreed, sure;
  agreed.expected_bleu = 50;
  agreed.confidence = -2;
  sure.expected_bleu = 40;
  sure.confidence = -1;  // one nat is worth 20 points
  const std::vector<Candidate> candidates{agreed, sure};
  EXPECT_EQ(choose(candidates, Selection::mbr), 0u);
  EXPECT_EQ(choose(candidates, Selection::blend), 1u);
  sure.expected_bleu = 25;
  EXPECT_EQ(choose(std::vector<Candidate>{agreed, sure}, Selection::blend), 0u);
}

TEST(Choice, AmongEqualsTakesTheOtherScoreThenTheFirst) {
  std::vector<Candidate> apart{made({1}, -3), made({2}, -1), made({3}, -1)};
  measure_agreement(apart);
  EXPECT_EQ(choose(apart, Selection::mbr), 1u);
  std::vector<Candidate> alone{made({1, 2}, -3)};
  measure_agreement(alone);
  EXPECT_EQ(choose(alone, Selection::mbr), 0u);
}

TEST(Choice, InStagesHearsEveryLengthOnce) {
  const auto of_length = [](int64_t length, std::vector<text::Id> ids, double confidence) {
    return Candidate{std::move(ids), length, confidence};
  };
  // If all candidates voted together, the five of the first length would outvote the others.
  std::vector<Candidate> candidates;
  for (text::Id last = 20; last < 25; ++last)
    candidates.push_back(of_length(6, {11, 12, 13, 14, last}, -1));
  candidates.push_back(of_length(7, {1, 2, 3, 4, 5, 6}, -1));
  candidates.push_back(of_length(8, {1, 2, 3, 4, 5, 6, 7}, -1));
  measure_agreement(candidates);
  EXPECT_LT(choose(candidates, Selection::mbr), 5u);
  measure_stages(candidates);
  EXPECT_GE(choose(candidates, Selection::staged), 5u);
  const auto in_second_stage = [&] {
    return std::ranges::count_if(
        candidates, [](const Candidate& each) { return each.staged_score.has_value(); });
  };
  EXPECT_EQ(in_second_stage(), 3) << "one of every length";

  // Within a length agreement decides, whatever the confidence.
  candidates = {of_length(6, {9, 8, 7, 6, 5}, -0.1), of_length(6, {1, 2, 3, 4, 5}, -2),
                of_length(6, {1, 2, 3, 4, 6}, -3)};
  measure_stages(candidates);
  EXPECT_EQ(choose(candidates, Selection::staged), 1u);
  EXPECT_EQ(in_second_stage(), 1);

  // Across lengths confidence counts, too.
  candidates = {of_length(6, {1, 2, 3, 4, 5}, -3), of_length(7, {1, 2, 3, 4, 5, 6}, -1)};
  measure_stages(candidates);
  EXPECT_EQ(choose(candidates, Selection::staged), 1u);
}

TEST(LengthRule, ReadsLengthsAndDifferences) {
  EXPECT_EQ(LengthRule::parse("12"), (LengthRule{false, 12}));
  EXPECT_EQ(LengthRule::parse("+2"), (LengthRule{true, 2}));
  EXPECT_EQ(LengthRule::parse("-1"), (LengthRule{true, -1}));
  for (const char* wrong : {"", "x", "+", "-", "+-2", "1.5", "12 ", "99999999999999999999"})
    EXPECT_THROW(LengthRule::parse(wrong), UsageError) << wrong;
}

TEST(Candidate, RepeatsAreMergedIntoOne) {
  Candidate candidate;
  candidate.ids = {5, 5, 7, 5, 8, 8, 8};
  merge_repeats(candidate);
  EXPECT_EQ(candidate.ids, (std::vector<text::Id>{5, 7, 5, 8}));
}

}  // namespace
}  // namespace tessera::seq2seq
