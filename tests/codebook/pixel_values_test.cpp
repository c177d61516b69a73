#include <tessera/base/error.h>
#include <tessera/codebook/pixel_values.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace tessera {
namespace {

TEST(PixelValues, AreReadAsNumbersAndWhetherTheyAreMasks) {
  const PixelValues plain(256, ValueHead::logits, /*mask=*/false);
  const at::Tensor labels = at::tensor({0, 128, 255}, at::kLong);
  EXPECT_TRUE(
      at::allclose(plain.encode(labels),
                   at::tensor({-1.0, 2 * 128 / 255.0 - 1, 1.0}).to(at::kFloat).view({3, 1})));
  EXPECT_EQ(plain.mask(), -1);
  const PixelValues masked(256, ValueHead::logits, /*mask=*/true);
  EXPECT_EQ(masked.mask(), 256);
  EXPECT_TRUE(
      at::allclose(masked.encode(at::tensor({0, 256, 255}, at::kLong)),
                   at::tensor({-1.0, 0.0, 0.0, 1.0, 1.0, 0.0}).to(at::kFloat).view({3, 2})));
}

TEST(PixelValues, DecodeToTheLikeliestValueAndNeverToTheMask) {
  at::manual_seed(1);
  for (const bool mask : {false, true})
    for (const ValueHead head :
         {ValueHead::logits, ValueHead::logistic, ValueHead::logistic_parts}) {
      const PixelValues values(16, head, mask);
      const at::Tensor output = at::randn({50, values.output_dim()});
      EXPECT_TRUE(at::equal(values.decode(output), values.scores(output).argmax(-1)));
      EXPECT_TRUE(at::equal(values.decode(output), values.logits(output).argmax(-1)));
      EXPECT_EQ(values.scores(output).size(-1), mask ? 17 : 16);
      if (mask) {
        EXPECT_EQ(values.scores(output).select(-1, 16).max().item<double>(),
                  -std::numeric_limits<double>::infinity());
        EXPECT_EQ(values.rows_of(at::tensor({3, 16}, at::kLong))[1].item<int64_t>(), -1);
      }
    }
}

TEST(PixelValues, CrossEntropyIsThatOfTheLogits) {
  at::manual_seed(1);
  const at::Tensor labels = at::tensor({0, 15, 7, 3, 16, 2}, at::kLong).view({2, 3});
  for (const ValueHead head : {ValueHead::logits, ValueHead::logistic, ValueHead::logistic_parts})
    for (const double smoothing : {0.0, 0.1}) {
      const PixelValues values(16, head, /*mask=*/true);
      const at::Tensor output = at::randn({2, 3, values.output_dim()});
      const at::Tensor log_p = values.logits(output).log_softmax(-1);
      const at::Tensor expected =
          -(1 - smoothing) * log_p.gather(-1, labels.clamp_max(15).unsqueeze(-1)).squeeze(-1) -
          smoothing * log_p.mean(-1);
      EXPECT_TRUE(at::allclose(values.cross_entropy(output, labels, smoothing),
                               expected.masked_fill(labels.eq(16), 0), 1e-4, 1e-5));
    }
}

TEST(PixelValues, HaveNoCells) {
  const PixelValues values(16, ValueHead::logits, /*mask=*/false);
  const Trajectory trajectory{TrajectoryOptions{}};
  const at::Tensor x = at::zeros({2, 1});
  EXPECT_THROW(values.decode_and_exit(trajectory, x, x), Error);
  EXPECT_THROW(values.decode(x), Error) << "a code is no estimate";
  EXPECT_THROW(PixelValues(1, ValueHead::logits, false), UsageError);
}

}  // namespace
}  // namespace tessera
