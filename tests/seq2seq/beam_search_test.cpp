#include "seq2seq/beam_search.h"

#include "seq2seq/generator.h"
#include "seq2seq/scorer.h"
#include "seq2seq/tiny_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <set>

namespace tessera::seq2seq {
namespace {

using test::tiny_source;
using text::Dictionary;
using text::Id;

class BeamSearchTest : public testing::Test {
 protected:
  GenerationOptions beam(int64_t size) const {
    GenerationOptions options;
    options.beam = size;
    return options;
  }

  std::vector<Generated> generate(const GenerationOptions& options) const {
    return Generator(model_, options).generate(sources_);
  }

  // Takes the likeliest next symbol at every position.
  std::vector<Id> greedy(const std::vector<Id>& source) const {
    const c10::NoGradGuard no_grad;
    const std::vector<int64_t> ids(source.begin(), source.end());
    const Encoded encoded = model_.encode(at::tensor(ids).unsqueeze(0));
    auto state = model_.start(1, 40);
    at::Tensor last = at::full({1}, int64_t{Dictionary::kBos}, at::kLong);
    std::vector<Id> written;
    while (written.size() < 39) {
      last = model_.next_scores(state, last, encoded).argmax(-1);
      if (last.item<int64_t>() == Dictionary::kEos) break;
      written.push_back(static_cast<Id>(last.item<int64_t>()));
    }
    return written;
  }

  const Autoregressive model_ = test::tiny_autoregressive();
  const std::vector<std::vector<Id>> sources_{tiny_source(4, 1), tiny_source(11, 2),
                                              tiny_source(6, 3)};
};

TEST_F(BeamSearchTest, ABeamOfOneIsGreedy) {
  const auto found = generate(beam(1));
  for (size_t k = 0; k < sources_.size(); ++k) {
    std::vector<Id> expected = greedy(sources_[k]);
    // A hypothesis without an end symbol is cut at the length limit.
    expected.resize(std::min(expected.size(), found[k].ids().size()));
    EXPECT_EQ(found[k].ids(), expected) << k;
    EXPECT_EQ(found[k].candidates.size(), 1u);
  }
}

TEST_F(BeamSearchTest, CandidatesAreDifferentBestFirstAndRightlyScored) {
  const auto found = generate(beam(5));
  for (size_t k = 0; k < sources_.size(); ++k) {
    const auto& candidates = found[k].candidates;
    ASSERT_EQ(candidates.size(), 5u);
    EXPECT_EQ(found[k].chosen, 0u);
    std::set<std::vector<Id>> different;
    ScoringTask task;
    const SourceSentence sentence{0, 0, sources_[k]};
    task.sources = std::span(&sentence, 1);
    task.targets.emplace_back();
    for (size_t c = 0; c < candidates.size(); ++c) {
      different.insert(candidates[c].ids);
      task.targets[0].emplace_back(candidates[c].ids);
      const size_t before = c == 0 ? 0 : c - 1;
      EXPECT_GE(candidates[before].confidence, candidates[c].confidence);
    }
    EXPECT_EQ(different.size(), 5u);
    const auto scores = score_targets(model_, task, 1000)[0];
    for (size_t c = 0; c < candidates.size(); ++c)
      EXPECT_NEAR(scores[c].mean(), candidates[c].confidence, 1e-4);
  }
}

// Scores all targets of up to two symbols one by one; the beam is wide enough for all of them.
TEST_F(BeamSearchTest, AWideBeamFindsTheBestOfAll) {
  GenerationOptions options = beam(400);
  options.length_penalty = 0;
  const auto found = generate(options)[0];
  ScoringTask task;
  const SourceSentence sentence{0, 0, sources_[0]};
  task.sources = std::span(&sentence, 1);
  std::vector<std::vector<Id>> targets{{}};
  for (Id a = 4; a < 30; ++a) {
    targets.push_back({a});
    for (Id b = 4; b < 30; ++b) targets.push_back({a, b});
  }
  task.targets.emplace_back(targets.begin(), targets.end());
  const auto scores = score_targets(model_, task, 100000)[0];
  double best = -1e9;
  for (const TargetScore& score : scores) best = std::max(best, score.total());
  const Candidate& first = found.best();
  const double ours = first.confidence * static_cast<double>(first.length);
  EXPECT_GE(ours, best - 1e-4);
}

TEST_F(BeamSearchTest, ASentenceDoesNotDependOnItsNeighbours) {
  const auto together = generate(beam(3));
  for (size_t k = 0; k < sources_.size(); ++k) {
    const auto alone = Generator(model_, beam(3)).generate({sources_[k]})[0];
    EXPECT_EQ(alone.ids(), together[k].ids()) << k;
  }
}

TEST_F(BeamSearchTest, APenaltyMakesSentencesLonger) {
  GenerationOptions short_ones = beam(4), long_ones = beam(4);
  short_ones.length_penalty = 0;
  long_ones.length_penalty = 3;
  size_t shorter = 0, longer = 0;
  for (const Generated& result : generate(short_ones)) shorter += result.ids().size();
  for (const Generated& result : generate(long_ones)) longer += result.ids().size();
  EXPECT_LE(shorter, longer);
}

TEST_F(BeamSearchTest, DrawsTheSameSentencesForTheSameSeed) {
  GenerationOptions options = beam(6);
  options.temperature = 1;
  options.sampler.seed = 7;
  const auto first = generate(options), second = generate(options);
  options.sampler.seed = 8;
  const auto third = generate(options);
  for (size_t k = 0; k < sources_.size(); ++k) {
    ASSERT_EQ(first[k].candidates.size(), 6u);
    bool all_equal = true;
    for (size_t c = 0; c < 6; ++c) {
      EXPECT_EQ(first[k].candidates[c].ids, second[k].candidates[c].ids);
      all_equal = all_equal && first[k].candidates[c].ids == third[k].candidates[c].ids;
    }
    EXPECT_FALSE(all_equal);
  }
}

TEST_F(BeamSearchTest, DrawingTheLikeliestSymbolIsGreedy) {
  GenerationOptions options = beam(1);
  const auto expected = generate(options);
  options.temperature = 1;
  options.top_k = 1;
  const auto drawn = generate(options);
  for (size_t k = 0; k < sources_.size(); ++k) EXPECT_EQ(drawn[k].ids(), expected[k].ids());
}

}  // namespace
}  // namespace tessera::seq2seq
