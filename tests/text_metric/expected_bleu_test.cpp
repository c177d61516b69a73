#include "text_metric/expected_bleu.h"

#include "text_metric/bleu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace {

using namespace tessera::text_metric;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

using Candidates = std::vector<std::vector<int32_t>>;

std::vector<double> expected(const Candidates& candidates) {
  return expected_bleu(std::vector<std::span<const int32_t>>(candidates.begin(), candidates.end()));
}

// For each line h of the candidates, the mean of sacrebleu.sentence_bleu(h, [r], tokenize="none")
// over the other lines r, sacreBLEU 2.6.0.
TEST(ExpectedBleu, IsTheMeanSentenceBleuAgainstTheOthers) {
  const Candidates candidates{{1, 2, 3, 4, 5, 6, 7},
                              {1, 2, 3, 4, 5, 7, 6},
                              {1, 2, 3, 9},
                              {1, 1, 2, 2, 1, 1, 2},
                              {},
                              {8},
                              {8, 9, 1}};
  EXPECT_THAT(
      expected(candidates),
      Pointwise(DoubleNear(1e-9), {18.50366763792808, 18.50366763792808, 15.043471043284136,
                                   7.661820525403794, 0.0, 2.255588053943546, 12.352712977484638}));
}

TEST(ExpectedBleu, AgreesWithSentenceBleuOfTheSameWords) {
  std::mt19937 random(5);
  Candidates candidates(12);
  std::vector<std::string> lines;
  for (auto& candidate : candidates) {
    candidate.resize(random() % 30);
    for (auto& symbol : candidate) symbol = static_cast<int32_t>(random() % 9);
    lines.push_back(fmt::format("{}", fmt::join(candidate, " ")));
  }
  const std::vector<double> result = expected(candidates);
  for (size_t i = 0; i < lines.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < lines.size(); ++j) {
      const std::array<std::string_view, 1> reference{lines[j]};
      if (j != i)
        sum += sentence_bleu(lines[i], reference, {.tokenization = Tokenization::none}).score;
    }
    EXPECT_NEAR(result[i], sum / 11, 1e-9) << lines[i];
  }
}

TEST(ExpectedBleu, OfNoneOrOneCandidateIsNothing) {
  EXPECT_THAT(expected({}), IsEmpty());
  EXPECT_THAT(expected({{1, 2, 3}}), ElementsAre(0));
  EXPECT_THAT(expected({{}, {}}), ElementsAre(0, 0));
}

TEST(ExpectedBleu, TakesAnyNumbersAsSymbols) {
  EXPECT_THAT(expected({{-1, 2147483647}, {-1, 2147483647}}),
              Pointwise(DoubleNear(1e-9), {100.0, 100.0}));
}

}  // namespace
