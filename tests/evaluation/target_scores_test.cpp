#include <tessera/evaluation/target_scores.h>

#include "seq2seq/tiny_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Lines = std::vector<std::string>;

class TargetScoresTest : public testing::Test {
 protected:
  TargetScoresTest() {
    test::write_tiny_model(folder_ / "ar", test::tiny_autoregressive());
    test::write_tiny_model(folder_ / "diffusion");
  }
  Engine engine(const std::string& name = "ar") const {
    return Engine(folder_ / name, {.device = "cpu"});
  }

  test::TemporaryFolder folder_;
};

TEST_F(TargetScoresTest, AreTheModelsProbabilities) {
  const c10::NoGradGuard no_grad;
  const Lines sources{"a b c", "", "d e"}, targets{"x", "y z", ""};
  const TargetScores found = score_targets(engine(), sources, targets, {.batch_tokens = 8});
  ASSERT_EQ(found.targets.size(), 3u);
  const auto model = test::tiny_autoregressive();
  const auto tensor = [](const std::string& line) {
    std::vector<int64_t> ids;
    for (const text::Id id : test::tiny_tokenizer().encode(line)) ids.push_back(id);
    ids.push_back(text::Dictionary::kEos);
    return at::tensor(ids, at::kLong).unsqueeze(0);
  };
  double total = 0;
  int64_t symbols = 0;
  for (size_t k = 0; k < 3; ++k) {
    const at::Tensor expected =
        model.log_probabilities(model.encode(tensor(sources[k])), tensor(targets[k]))[0];
    const TargetScore& score = found.targets[k];
    ASSERT_EQ(std::ssize(score.log_probabilities), expected.size(0));
    for (int64_t i = 0; i < expected.size(0); ++i)
      EXPECT_NEAR(score.log_probabilities[static_cast<size_t>(i)], expected[i].item<double>(),
                  1e-5);
    EXPECT_EQ(score.symbols, expected.size(0));
    EXPECT_NEAR(score.log_probability, expected.sum().item<double>(), 1e-4);
    EXPECT_NEAR(score.perplexity(), std::exp(-expected.mean().item<double>()), 1e-3);
    total += score.log_probability;
    symbols += score.symbols;
  }
  EXPECT_EQ(found.symbols, symbols);
  EXPECT_EQ(found.log_probability, total);
  EXPECT_NEAR(found.perplexity(), std::exp(-total / 6), 1e-9);
}

TEST_F(TargetScoresTest, AgreeWithTheSearch) {
  const Engine model = engine();
  const std::vector<TextRequest> requests{{.text = "a b c", .options = {.beam = 4}}};
  const TextResult result = model.run(requests)[0];
  const TargetScore score = score_targets(model, Lines{"a b c"}, Lines{result.text}).targets[0];
  EXPECT_NEAR(score.log_probability / static_cast<double>(score.symbols),
              result.candidates[0].confidence, 1e-4);
}

TEST_F(TargetScoresTest, LeaveOutWhatIsNeverWritten) {
  const TargetScore score = score_targets(engine(), Lines{"a b"}, Lines{"a ☃ b ☂"}).targets[0];
  EXPECT_THAT(score.impossible, ElementsAre("<unk>", "<unk>"));
  ASSERT_EQ(score.log_probabilities.size(), 5u);
  EXPECT_TRUE(std::isinf(score.log_probabilities[1]));
  EXPECT_EQ(score.symbols, 3);
  EXPECT_NEAR(score.log_probability,
              score.log_probabilities[0] + score.log_probabilities[2] + score.log_probabilities[4],
              1e-9);
}

TEST_F(TargetScoresTest, SayWhatIsWrongAndCanBeStopped) {
  EXPECT_THAT(test::complaint([&] { score_targets(engine("diffusion"), Lines{"a"}, Lines{"b"}); }),
              HasSubstr("is a model of kind 'diffusion'"));
  EXPECT_THROW(score_targets(engine(), Lines{"a"}, Lines()), Error);
  std::string words;
  for (int k = 0; k < 50; ++k) words += "a ";
  EXPECT_THAT(test::complaint([&] {
                score_targets(engine(), Lines{"a", "a"}, Lines{"b", words});
              }),
              HasSubstr("line 2 is longer than the 40 positions"));
  std::stop_source stop;
  int64_t done = 0;
  const TargetScoreOptions options{
      .batch_tokens = 1, .stop = stop.get_token(), .progress = [&](int64_t more) {
        done += more;
        stop.request_stop();
      }};
  EXPECT_THAT(test::complaint([&] {
                score_targets(engine(), Lines{"a", "b", "c"}, Lines{"a", "b", "c"}, options);
              }),
              HasSubstr("stopped"));
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace tessera
