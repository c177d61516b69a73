#include "symbols/categorical.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessera {
namespace {

TEST(DrawCategorical, FollowsTheDistributionOverAGridOfNumbers) {
  const at::Tensor p = at::tensor({0.1, 0.2, 0.3, 0.4}, at::kDouble);
  const at::Tensor u = (at::arange(1000, at::kDouble) + 0.5) / 1000;
  const at::Tensor drawn = draw_categorical(p.log().expand({1000, 4}), u);
  EXPECT_TRUE(at::equal(at::bincount(drawn, {}, 4), at::tensor({100, 200, 300, 400}, at::kLong)));
}

TEST(DrawCategorical, NeverGivesWhatHasNoProbability) {
  const double never = -std::numeric_limits<double>::infinity();
  const at::Tensor logits = at::tensor({never, 0.0, never, 1.0, never}, at::kFloat);
  const at::Tensor u =
      at::tensor({0.0, 1e-300, 0.2689, 0.5, std::nextafter(1.0, 0.0)}, at::kDouble);
  EXPECT_TRUE(at::equal(draw_categorical(logits.expand({5, 5}), u),
                        at::tensor({1, 1, 1, 3, 3}, at::kLong)));
}

// In float32 a symbol of probability 1e-9 among likely ones would be out of reach.
TEST(DrawCategorical, ReachesRareSymbols) {
  const at::Tensor logits = at::tensor({0.0, std::log(1e-9)}, at::kFloat);
  EXPECT_EQ(draw_categorical(logits, at::scalar_tensor(1 - 5e-10, at::kDouble)).item<int64_t>(), 1);
  EXPECT_EQ(draw_categorical(logits, at::scalar_tensor(1 - 5e-9, at::kDouble)).item<int64_t>(), 0);
}

TEST(Entry, IsTheValueOfEveryRowAtItsPlace) {
  const at::Tensor values = at::arange(24, at::kDouble).view({2, 3, 4});
  const at::Tensor index = at::tensor({0, 3, 1, 2, 2, 0}, at::kLong).view({2, 3});
  EXPECT_TRUE(
      at::equal(entry(values, index), at::tensor({0, 7, 9, 14, 18, 20}, at::kDouble).view({2, 3})));
}

TEST(DrawCategorical, OfNothingIsNothing) {
  EXPECT_EQ(draw_categorical(at::zeros({0, 7}), at::zeros({0}, at::kDouble)).numel(), 0);
}

}  // namespace
}  // namespace tessera
