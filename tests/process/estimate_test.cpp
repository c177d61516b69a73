#include <tessera/base/error.h>
#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/process/estimate.h>

#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct EstimateScene {
  EmbeddingTable table{test::normal({30, 8}, 1, at::kDouble), {.undecodable = {0, 7}}};
  at::Tensor x0_hat = 0.2 * test::normal({3, 5, 8}, 2, at::kDouble);
  at::Tensor nearest = table.encode(table.decode(x0_hat));

  at::Tensor estimate(Estimate which, double scale = 1) const {
    return estimate_of(table, x0_hat, which, scale);
  }
};

TEST(Estimate, RawIsWhatTheNetworkGives) {
  const EstimateScene scene;
  EXPECT_TRUE(at::equal(scene.estimate(Estimate::raw), scene.x0_hat));
}

TEST(Estimate, MeanIsTheMeanOfTheCodesUnderTheScores) {
  const EstimateScene scene;
  for (const double scale : {1.0, 0.3}) {
    const at::Tensor weights = (scene.table.scores(scene.x0_hat) * scale).softmax(-1);
    const at::Tensor expected = at::matmul(weights, scene.table.codes());
    EXPECT_LT(test::largest_difference(scene.estimate(Estimate::mean, scale), expected), 1e-10);
  }
}

TEST(Estimate, NearestIsTheCodeItDecodesTo) {
  const EstimateScene scene;
  EXPECT_TRUE(at::equal(scene.estimate(Estimate::nearest), scene.nearest));
}

TEST(Estimate, RescaledKeepsTheDirectionAndHasTheLengthOfACode) {
  const EstimateScene scene;
  const at::Tensor rescaled = scene.estimate(Estimate::rescaled);
  EXPECT_LT(test::largest_difference(at::norm(rescaled, 2, {-1}),
                                     at::full({3, 5}, std::sqrt(8.0), at::kDouble)),
            1e-10);
  EXPECT_LT(
      test::largest_difference(at::cosine_similarity(rescaled, scene.x0_hat, -1), at::ones({3, 5})),
      1e-10);
}

TEST(Estimate, OfNoLengthStaysFinite) {
  const EstimateScene scene;
  for (const auto& [estimate, name] : EnumNames<Estimate>::values)
    EXPECT_TRUE(estimate_of(scene.table, at::zeros({2, 8}, at::kDouble), estimate)
                    .isfinite()
                    .all()
                    .item<bool>())
        << name;
}

TEST(Estimate, OfBitsHasNoMean) {
  const Bits bits;
  EXPECT_THAT([&] { require_estimate(bits, Estimate::mean); },
              ThrowsMessage<UsageError>(HasSubstr("bits and pixels have none")));
  EXPECT_THROW(bits.mean(at::zeros({2, 8})), Error);
  require_estimate(bits, Estimate::nearest);
  const at::Tensor x = at::full({1, 8}, -0.25);
  EXPECT_TRUE(at::equal(estimate_of(bits, x, Estimate::rescaled), at::full({1, 8}, -1.0)));
}

}  // namespace
}  // namespace tessera
