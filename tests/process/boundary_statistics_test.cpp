#include "process/boundary_statistics.h"

#include "seq2seq/tiny_model.h"
#include "support/naive_exit.h"
#include "support/tensors.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

namespace tessera::seq2seq {
namespace {

constexpr int64_t kTokens = 400;

// Codes of one length lie in their own cells. Here symbol 6 has the direction of symbol 5 and is
// longer, so 5 has no cell left.
std::unique_ptr<Diffusion> model_with_swallowed_symbol() {
  Seq2SeqOptions options = test::tiny_options();
  options.normalise = Normalise::none;
  auto model = std::make_unique<Diffusion>(options, test::tiny_dictionary().size(),
                                           std::vector<int64_t>{0, 1, 3}, at::kCPU,
                                           nn::Precision::float32, 5);
  const c10::NoGradGuard no_grad;
  const at::Tensor codes = model->parameters().named(model->parameters().values()).at("embedding");
  codes.copy_(test::unit_codes(codes.size(0), codes.size(1), 8));
  codes[6].copy_(codes[5] * 1.5);
  model->refresh();
  return model;
}

const Process& process_of(const Diffusion& model) {
  return *model.family()->process();
}

// Labels of all symbols, including those that cannot be decoded.
at::Tensor some_labels(const Diffusion& model) {
  return test::labels({kTokens}, model.codebook().symbols(), 4);
}

struct Naive {
  double tokens = 0, outside = 0, no_exit = 0, mean = 0;
  std::vector<double> histogram = std::vector<double>(BoundaryStatistics::kBins, 0.0);
};

// On an OT path u/v = (1 - s) / s, so the path leaves its cell at s = 1 / (1 + ratio).
Naive naive_statistics(const Diffusion& model, const at::Tensor& labels, const at::Tensor& eps) {
  const std::vector<int64_t>& none = model.undecodable();
  std::vector<int64_t> rows;
  for (int64_t j = 0; j < model.codebook().symbols(); ++j)
    if (std::find(none.begin(), none.end(), j) == none.end()) rows.push_back(j);
  const at::Tensor codes = model.codebook().codes().index_select(0, at::tensor(rows, at::kLong));
  Naive found;
  for (int64_t i = 0; i < labels.size(0); ++i) {
    const auto own = std::find(rows.begin(), rows.end(), labels[i].item<int64_t>());
    if (own == rows.end()) continue;
    const auto exit = test::naive_exit(codes, codes.narrow(0, own - rows.begin(), 1),
                                       eps.narrow(0, i, 1), at::tensor({own - rows.begin()}));
    const double ratio = exit.ratio[0];
    const bool leaves = exit.outside[0] || ratio > 0;
    const double t0 = !leaves ? 1.0 : exit.outside[0] ? 0.0 : 1 / (1 + ratio);
    found.tokens += 1;
    found.outside += exit.outside[0];
    found.no_exit += !leaves;
    found.mean += t0;
    found.histogram[static_cast<size_t>(std::min(19.0, std::floor(t0 * 20)))] += 1;
  }
  for (double* value : {&found.outside, &found.no_exit, &found.mean}) *value /= found.tokens;
  for (double& share : found.histogram) share /= found.tokens;
  return found;
}

TEST(BoundaryStatistics, AgreeWithANaiveComputation) {
  const std::unique_ptr<Diffusion> made = model_with_swallowed_symbol();
  const Diffusion& model = *made;
  const at::Tensor labels = some_labels(model);
  const at::Tensor eps = test::normal({kTokens, model.codebook().dim()}, 9);
  BoundaryCounter counter(process_of(model), model.codebook(), model.undecodable());
  // In two batches of different shapes: how tokens are batched must not matter.
  counter.add(labels.narrow(0, 0, 300).view({20, 15}), eps.narrow(0, 0, 300).view({20, 15, -1}));
  counter.add(labels.narrow(0, 300, 100), eps.narrow(0, 300, 100));
  const BoundaryStatistics found = counter.result();
  const Naive expected = naive_statistics(model, labels, eps);
  EXPECT_EQ(found.tokens, static_cast<int64_t>(expected.tokens));
  EXPECT_LT(found.tokens, kTokens) << "symbols that cannot be decoded have no cell";
  EXPECT_GT(expected.outside, 0);
  EXPECT_GT(expected.no_exit, 0);
  EXPECT_DOUBLE_EQ(found.outside, expected.outside);
  EXPECT_DOUBLE_EQ(found.no_exit, expected.no_exit);
  EXPECT_NEAR(found.mean, expected.mean, 1e-5);
  ASSERT_EQ(found.histogram.size(), 20u);
  for (size_t k = 0; k < 20; ++k)
    EXPECT_NEAR(found.histogram[k], expected.histogram[k], 1e-9) << "bin " << k;
}

TEST(BoundaryStatistics, OfLabelsAreAFunctionOfTheSeed) {
  const Diffusion model = test::tiny_model();
  const at::Tensor labels = some_labels(model);
  const BoundaryStatistics once =
      boundary_statistics(process_of(model), model.codebook(), model.undecodable(), labels, 1);
  EXPECT_EQ(once.histogram,
            boundary_statistics(process_of(model), model.codebook(), model.undecodable(), labels, 1)
                .histogram);
  EXPECT_NE(once.mean,
            boundary_statistics(process_of(model), model.codebook(), model.undecodable(), labels, 2)
                .mean);
  EXPECT_NEAR(std::accumulate(once.histogram.begin(), once.histogram.end(), 0.0), 1, 1e-12);
}

TEST(BoundaryStatistics, OfNothingAreZero) {
  const Diffusion model = test::tiny_model();
  const BoundaryStatistics none = boundary_statistics(
      process_of(model), model.codebook(), model.undecodable(), at::empty({0}, at::kLong), 1);
  EXPECT_EQ(none.tokens, 0);
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(boundary_statistics(process_of(model), model.codebook(), model.undecodable(),
                                at::full({3}, text::Dictionary::kPad, at::kLong), 1)
                .tokens,
            0);
}

}  // namespace
}  // namespace tessera::seq2seq
