#include "seq2seq/scorer.h"

#include "seq2seq/tiny_model.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::seq2seq {
namespace {

using test::tiny_source;
using testing::HasSubstr;
using testing::ThrowsMessage;
using text::Id;

TEST(Scorer, ScoresEveryTargetAsIfItWereAlone) {
  const c10::NoGradGuard no_grad;
  const Autoregressive model = test::tiny_autoregressive();
  const std::vector<SourceSentence> sources{{0, 0, tiny_source(5, 1)}, {1, 1, tiny_source(9, 2)}};
  const std::vector<std::vector<Id>> targets{{4, 5, 6}, {}, {7, 8, 9, 10, 11}};
  ScoringTask task{sources, {{targets[0], targets[1]}, {targets[2]}}};
  const auto found = score_targets(model, task, 1000);
  ASSERT_EQ(found[0].size(), 2u);
  ASSERT_EQ(found[1].size(), 1u);
  const auto alone = [&](const SourceSentence& source, const std::vector<Id>& target) {
    std::vector<int64_t> ids(target.begin(), target.end());
    ids.push_back(text::Dictionary::kEos);
    const std::vector<int64_t> words(source.ids.begin(), source.ids.end());
    return model
        .log_probabilities(model.encode(at::tensor(words).unsqueeze(0)),
                           at::tensor(ids).unsqueeze(0))
        .sum()
        .item<double>();
  };
  EXPECT_NEAR(found[0][0].total(), alone(sources[0], targets[0]), 1e-4);
  EXPECT_NEAR(found[0][1].total(), alone(sources[0], targets[1]), 1e-4);
  EXPECT_NEAR(found[1][0].total(), alone(sources[1], targets[2]), 1e-4);
  EXPECT_EQ(found[1][0].symbols(), 6);
}

TEST(Scorer, TellsPossibleSymbolsFromThoseItNeverWrites) {
  const Autoregressive model = test::tiny_autoregressive();
  const std::vector<SourceSentence> sources{{0, 0, tiny_source(5, 1)}};
  const std::vector<Id> target{4, text::Dictionary::kUnk, 5};
  const TargetScore score = score_targets(model, {sources, {{target}}}, 1000)[0][0];
  EXPECT_TRUE(std::isinf(score.total()));
  EXPECT_EQ(score.possible().symbols(), 3);
  EXPECT_TRUE(std::isfinite(score.possible().total()));
}

TEST(Scorer, NamesTheLineThatIsTooLong) {
  const Autoregressive model = test::tiny_autoregressive();
  const std::vector<SourceSentence> sources{{0, 6, tiny_source(5, 1)}};
  const std::vector<Id> target(40, 5);
  EXPECT_THAT(
      [&] {
        score_targets(model, {sources, {{target}}}, 1000);
      },
      ThrowsMessage<Error>(HasSubstr("line 7 is longer than the 40 positions")));
}

}  // namespace
}  // namespace tessera::seq2seq
