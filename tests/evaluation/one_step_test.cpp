#include "evaluation/one_step.h"

#include "corpus/batcher.h"
#include "seq2seq/tiny_model.h"
#include "text/made_split.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::evaluation {
namespace {

constexpr int64_t kTokens = 4000;
constexpr uint64_t kSeed = 5;

TEST(OneStep, MeasuresTheErrorTrainingMeasures) {
  const c10::NoGradGuard no_grad;
  seq2seq::Diffusion model = test::tiny_model();
  const corpus::Split split = test::made_split({{5, 4}, {7, 9}, {6, 6}});
  const OneStep found = measure_one_step(model, split, kTokens, kSeed);
  EXPECT_EQ(found.tokens, 4 + 9 + 6);

  corpus::BatcherOptions options;
  options.tokens = kTokens;
  options.max_length = 40;
  options.shuffle = false;
  const corpus::Batcher batcher(split, options, kSeed);
  double sum = 0, tokens = 0;
  for (int64_t i = 0; i < batcher.batches(0); ++i) {
    const corpus::Batch batch = batcher.batch(0, i);
    const auto& [rows, source, target] = batch.shape;
    const seq2seq::Seq2SeqBatch ids{at::tensor(batch.source).view({rows, source}),
                                    at::tensor(batch.target).view({rows, target})};
    const auto number = static_cast<uint64_t>(i);
    const Draws draws = model.draw(
        {{kSeed, Purpose::validation, 2 * number}, {kSeed, Purpose::validation, 2 * number + 1}},
        rows, target);
    const double count = ids.target.ne(text::Dictionary::kPad).sum().item<double>();
    // The first measure is the mean squared error.
    sum += count *
           model.loss(ids, draws, /*variant=*/0, nn::Mode::inference).measures[0].item<double>();
    tokens += count;
  }
  EXPECT_NEAR(found.x0_error, sum / tokens, 1e-5);
  EXPECT_GE(found.accuracy, 0);
  EXPECT_LE(found.accuracy, 1);
  EXPECT_GT(found.velocity_error, 0);
}

}  // namespace
}  // namespace tessera::evaluation
