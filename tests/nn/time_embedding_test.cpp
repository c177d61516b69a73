#include "nn/time_embedding.h"

#include <tessera/base/error.h>

#include "support/tensors.h"

#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

// Golden values: recomputed in float64 from the definition, see docs/method.md.
TEST(TimeEmbedding, HasTheGoldenValues) {
  const at::Tensor features = time_embedding(at::full({1}, 999.5, at::kFloat), 512)[0];
  ASSERT_EQ(features.numel(), 512);
  EXPECT_EQ(features.scalar_type(), at::kFloat);
  const auto value = test::values(features);
  EXPECT_NEAR(value[0], .889961, 1e-6);
  EXPECT_NEAR(value[256], .456036, 1e-6);
  EXPECT_NEAR(value[1], -.958342, 1e-6);
  EXPECT_NEAR(value[257], .285622, 1e-6);
  EXPECT_NEAR(value[255], .994637, 1e-6);
  EXPECT_NEAR(value[511], .103426, 1e-6);
}

TEST(TimeEmbedding, IsOneAndZeroAtTimeZero) {
  const at::Tensor features = time_embedding(at::zeros({3}), 6);
  EXPECT_EQ(test::values(features[2]), (std::vector<double>{1, 1, 1, 0, 0, 0}));
}

TEST(TimeEmbedding, RefusesOddDimensionsAndOtherShapes) {
  EXPECT_THROW(time_embedding(at::zeros({3}), 5), Error);
  EXPECT_THROW(time_embedding(at::zeros({3, 1}), 4), Error);
  EXPECT_THROW(time_embedding(at::zeros({3}, at::kLong), 4), Error);
}

}  // namespace
}  // namespace tessera::nn
