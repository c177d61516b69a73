#include "task/validator.h"

#include "corpus/date_pairs.h"
#include "support/log_listener.h"
#include "support/temporary_folder.h"
#include "task/tiny_text.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::task {
namespace {

using testing::HasSubstr;

class ValidatorTest : public testing::Test {
 protected:
  ValidatorTest() {
    corpus::make_date_corpus(folder_ / "dates", /*seed=*/1, /*pairs=*/200);
    corpus_.emplace(corpus::Corpus::open(folder_ / "dates"));
  }

  std::unique_ptr<seq2seq::Seq2Seq> model() const {
    return seq2seq::make_seq2seq(options_.model, corpus_->tokenizer().dictionary().size(),
                                 corpus_->unused_in_targets(), at::kCPU, nn::Precision::float32, 1);
  }
  Measurement measure(seq2seq::Seq2Seq& model, int64_t sentences, uint64_t seed = 1) const {
    Validator validator(model, *corpus_, "valid", options_.data.batches, options_.generate,
                        sentences, seed);
    return validator.measure(model.parameters().values(), [] {});
  }

  test::TemporaryFolder folder_{test::quick_place()};
  std::optional<corpus::Corpus> corpus_;
  TextOptions options_ = test::tiny_text();
};

TEST_F(ValidatorTest, FindsTheSameEveryTime) {
  const auto network = model();
  Validator validator(*network, *corpus_, "valid", options_.data.batches, options_.generate, 4, 1);
  const at::Tensor weights = network->parameters().values().clone();
  const Measurement first = validator.measure(weights, [] {});
  const Measurement second = validator.measure(weights, [] {});
  EXPECT_EQ(first.loss, second.loss);
  EXPECT_EQ(first.parts, second.parts);
  EXPECT_EQ(first.bleu, second.bleu);
  EXPECT_EQ(first.examples[0].generated, second.examples[0].generated);
  EXPECT_NE(first.loss, measure(*network, 0, /*seed=*/2).loss) << "other noise";
}

TEST_F(ValidatorTest, MeasuresGeneratedSentencesWhereAnyAreAskedFor) {
  const auto network = model();
  const Measurement without = measure(*network, 0);
  EXPECT_FALSE(without.bleu);
  EXPECT_FALSE(without.exact_match);
  EXPECT_TRUE(without.examples.empty());
  const Measurement with = measure(*network, 12);
  EXPECT_EQ(with.loss, without.loss);
  ASSERT_TRUE(with.bleu && with.exact_match);
  EXPECT_GE(*with.exact_match, 0);
  EXPECT_LE(*with.exact_match, 100);
  EXPECT_GT(with.per_second, 0);
  ASSERT_EQ(with.examples.size(), 8u);
  EXPECT_EQ(with.examples[0].reference, corpus_->split("valid").target_lines()[0]);
}

TEST_F(ValidatorTest, LooksAtTheBoundaryOfADiffusionModelOnly) {
  const auto diffusion = model();
  const Measurement found = measure(*diffusion, 0);
  ASSERT_TRUE(found.boundary);
  EXPECT_GE(found.boundary->outside, 0);
  EXPECT_LE(found.boundary->outside, 1);
  options_.model.kind = seq2seq::ModelKind::autoregressive;
  const auto autoregressive = model();
  EXPECT_FALSE(measure(*autoregressive, 0).boundary);
}

TEST_F(ValidatorTest, IsGivenUpWhenItsPauseThrows) {
  const auto network = model();
  Validator validator(*network, *corpus_, "valid", options_.data.batches, options_.generate, 4, 1);
  const at::Tensor own = network->parameters().values().clone();
  struct GivenUp {};
  int calls = 0;
  EXPECT_THROW(validator.measure(own * 2,
                                 [&] {
                                   if (++calls == 3) throw GivenUp();
                                 }),
               GivenUp);
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(at::equal(network->parameters().values(), own));
}

TEST_F(ValidatorTest, ComplainsBeforeTheTrainingOfWhatCannotBeGenerated) {
  const auto network = model();
  options_.generate.sampler.steps = -1;
  EXPECT_THROW(
      Validator(*network, *corpus_, "valid", options_.data.batches, options_.generate, 4, 1),
      Error);
}

}  // namespace
}  // namespace tessera::task
