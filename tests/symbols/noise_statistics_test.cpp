#include "symbols/noise_statistics.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tessera {
namespace {

at::Tensor counts(const std::vector<double>& numbers) {
  return at::tensor(numbers, at::kDouble);
}

TEST(NoiseStatistics, OfMasksFollowTheSurvival) {
  const SymbolProcess process(5, {});
  const NoiseStatistics found = noise_statistics(process, counts({3, 0, 1, 1, 0}), 10);
  ASSERT_EQ(found.times.size(), 10u);
  for (size_t k = 0; k < 10; ++k) {
    const double s = static_cast<double>(k + 1) / 10;
    EXPECT_NEAR(found.times[k], s, 1e-12);
    EXPECT_NEAR(found.survival[k], 1 - (1 - 1e-3) * s, 1e-12);
    EXPECT_NEAR(found.changed[k], (1 - 1e-3) * s, 1e-12);
    EXPECT_NEAR(found.information[k], found.survival[k], 1e-10) << "a mask says nothing";
  }
}

// A binary symmetric channel.
TEST(NoiseStatistics, OfUniformNoiseAreThoseOfAChannel) {
  const SymbolProcess process(2, {.noise = SymbolNoise::uniform});
  const NoiseStatistics found = noise_statistics(process, counts({7, 7}), 4);
  for (size_t k = 0; k < 4; ++k) {
    const double flipped = (1 - found.survival[k]) / 2;
    const double entropy =
        -flipped * std::log(flipped) - (1 - flipped) * std::log(1 - flipped);  // nats
    EXPECT_NEAR(found.changed[k], flipped, 1e-12);
    EXPECT_NEAR(found.information[k], 1 - entropy / std::log(2.0), 1e-12);
  }
}

TEST(NoiseStatistics, OfValuesLoseInformationAndHaveNoSurvival) {
  const SymbolProcess process(
      16, {.noise = SymbolNoise::gaussian, .survival = {.horizon = 20}, .continuous = false});
  const NoiseStatistics found = noise_statistics(process, at::ones({16}, at::kDouble), 5);
  EXPECT_TRUE(found.survival.empty());
  for (size_t k = 1; k < 5; ++k) {
    EXPECT_GT(found.changed[k], found.changed[k - 1]);
    EXPECT_LT(found.information[k], found.information[k - 1]);
  }
}

TEST(NoiseStatistics, TakeWholeStepsWhereTimeHasSteps) {
  const SymbolProcess process(3, {.survival = {.horizon = 4}, .continuous = false});
  const NoiseStatistics found = noise_statistics(process, counts({1, 1, 1}), 3);
  EXPECT_EQ(found.times, (std::vector<double>{0.5, 0.75, 1}));
}

TEST(NoiseStatistics, OfASingleSymbolTellNothing) {
  const NoiseStatistics found = noise_statistics(SymbolProcess(3, {}), counts({0, 5, 0}), 2);
  EXPECT_EQ(found.information, (std::vector<double>{0, 0}));
  EXPECT_THROW(noise_statistics(SymbolProcess(3, {}), counts({0, 0, 0}), 2), Error);
}

}  // namespace
}  // namespace tessera
