#include "image_model/quantiser.h"

#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessera::image_model {
namespace {

at::Tensor column(std::vector<float> values) {
  return at::tensor(values).unsqueeze(1);
}

// Codes of one number each, which begin at points 0 and 10.
Quantiser two_codes(QuantiserOptions options = {}) {
  options.codes = 2;
  options.width = 1;
  Quantiser quantiser(options, at::kCPU);
  quantiser.restart(column({0, 10}), at::tensor({0.0, 0.5}, at::kDouble));
  return quantiser;
}

TEST(Quantiser, GradientsPassCodesAsIfTheyWereNotThere) {
  const at::Tensor points = column({1, 4}).requires_grad_();
  const at::Tensor codes = column({0, 5});
  const at::Tensor passed = straight_through(points, codes);
  EXPECT_TRUE(at::equal(passed, codes));
  (passed * column({2, 3})).sum().backward();
  EXPECT_TRUE(at::equal(points.grad(), column({2, 3})));
}

TEST(Quantiser, BeginsWithPoints) {
  EXPECT_TRUE(at::equal(two_codes().codes(), column({0, 10})));
}

TEST(Quantiser, FindsTheNearestCode) {
  Quantiser quantiser({.codes = 3, .width = 2}, at::kCPU);
  // The longest code has the largest product with (2, 1).
  quantiser.restart(at::tensor({0.F, 0.F, 2.F, 2.F, 9.F, 9.F}).view({3, 2}),
                    at::tensor({0.0, 0.4, 0.9}, at::kDouble));
  const at::Tensor points = at::tensor({2.F, 1.F, 0.F, .5F, 7.F, 7.F}).view({1, 3, 2});
  const at::Tensor labels = quantiser.nearest(points);
  EXPECT_TRUE(at::equal(labels, at::tensor({1, 0, 2}, at::kLong).view({1, 3})));
  EXPECT_TRUE(at::equal(quantiser.codes_of(labels).select(-1, 0),
                        at::tensor({2.F, 0.F, 9.F}).view({1, 3})));
}

// By hand, with 0.9 of the averages staying: sizes (1, 1), sums (0, 10); points 1, 2 and 3 are
// coded as the first code, 9 as the second.
TEST(Quantiser, CodesAreMovingAveragesOfTheirPoints) {
  constexpr double kSmoothing = 0.5;
  Quantiser quantiser = two_codes({.decay = 0.9, .smoothing = kSmoothing});
  const at::Tensor points = column({1, 2, 3, 9});
  const at::Tensor labels = quantiser.nearest(points);
  EXPECT_TRUE(at::equal(labels, at::tensor({0, 0, 0, 1}, at::kLong)));
  quantiser.learn(points, labels);
  const double first = 0.9 + 0.1 * 3, second = 0.9 + 0.1 * 1, all = first + second;
  const auto smoothed = [&](double size) {
    return (size + kSmoothing) / (all + 2 * kSmoothing) * all;
  };
  EXPECT_NEAR(quantiser.codes()[0].item<double>(), 0.1 * 6 / smoothed(first), 1e-5);
  EXPECT_NEAR(quantiser.codes()[1].item<double>(), (0.9 * 10 + 0.1 * 9) / smoothed(second), 1e-5);
  EXPECT_NEAR(quantiser.mean().item<double>(), (0.6 + 9.9) / all, 1e-5);
}

TEST(Quantiser, RestartsCodesThatAreHardlyUsedWhenItIsTime) {
  Quantiser quantiser = two_codes({.restart_every = 3, .restart_share = 0.5});
  // Nine points of the first code and one of the second: less than half of a fair share of five.
  const at::Tensor points = column({0, 0, 0, 0, 0, 0, 0, 0, 0, 10});
  const at::Tensor places = at::tensor({0.95, 0.2}, at::kDouble);
  for (int batch = 0; batch < 3; ++batch) {
    quantiser.restart(points, places);
    EXPECT_NEAR(quantiser.codes()[1].item<double>(), 10, 1e-3) << "batch " << batch;
    quantiser.learn(points, quantiser.nearest(points));
  }
  const at::Tensor others = column({5, 6, 7, 8, 9});
  quantiser.restart(others, places);
  EXPECT_NEAR(quantiser.codes()[0].item<double>(), 0, 1e-3) << "is used";
  EXPECT_EQ(quantiser.codes()[1].item<float>(), 6) << "the second of five points";
  // Counting begins again.
  quantiser.learn(others, quantiser.nearest(others));
  quantiser.restart(points, places);
  EXPECT_GT(quantiser.codes()[1].item<double>(), 5);
}

TEST(Quantiser, LeavesOutPointsThatAreNotFinite) {
  Quantiser quantiser = two_codes();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor points = column({0, nan, 10});
  quantiser.learn(points, at::tensor({0, 1, 1}, at::kLong));
  EXPECT_TRUE(quantiser.codes().isfinite().all().item<bool>());
  EXPECT_NEAR(quantiser.codes()[1].item<double>(), 10, 1e-3);
}

TEST(Quantiser, StateGoesOnBitForBit) {
  const test::TemporaryFolder folder;
  const auto batch = [](int64_t number) {
    at::manual_seed(static_cast<uint64_t>(number));
    return at::randn({50, 4});
  };
  const auto step = [&](Quantiser& quantiser, int64_t number) {
    const at::Tensor points = batch(number);
    quantiser.restart(points, at::rand({8}, at::kDouble));
    quantiser.learn(points, quantiser.nearest(points));
  };
  const QuantiserOptions options{.codes = 8, .width = 4, .restart_every = 3, .restart_share = 0.9};
  Quantiser whole(options, at::kCPU), rest(options, at::kCPU);
  for (int64_t k = 0; k < 5; ++k) step(whole, k);
  safetensors::Tensors stored;
  for (const auto& [name, tensor] : whole.state()) stored["q." + name] = tensor;
  safetensors::save(folder / "state.safetensors", stored);
  rest.restore(safetensors::File(folder / "state.safetensors"), "q.");
  for (int64_t k = 5; k < 9; ++k) {
    step(whole, k);
    step(rest, k);
  }
  for (const auto& [name, tensor] : whole.state())
    EXPECT_TRUE(at::equal(tensor, rest.state().at(name))) << name;
  EXPECT_THROW(Quantiser({.codes = 4, .width = 4}, at::kCPU)
                   .restore(safetensors::File(folder / "state.safetensors"), "q."),
               Error);
}

}  // namespace
}  // namespace tessera::image_model
