#include <tessera/base/error.h>
#include <tessera/process/clock.h>

#include "support/tensors.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Clock, MatchesTheGoldenTimes) {
  // t0 of the first golden path on vp-sqrt, T = 2000.
  const at::Tensor t0 = at::full({4}, 29.566635, at::kDouble);
  const at::Tensor t = at::tensor({1.0, 500.0, 1000.0, 2000.0}, at::kDouble);
  const std::vector<double> full{30.551851, 522.174976, 1014.783317, 2000};
  const std::vector<double> half{15.775926, 511.087488, 1007.391659, 2000};
  const auto at_full = test::values(Clock(1.0, 2000).tau(t, t0));
  const auto at_half = test::values(Clock(0.5, 2000).tau(t, t0));
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(at_full[i], full[i], 1e-6);
    EXPECT_NEAR(at_half[i], half[i], 1e-6);
  }
}

TEST(Clock, EndsExactlyAtTheHorizonInSinglePrecision) {
  const at::Tensor t0 = at::rand({1000}) * 2000;
  const at::Tensor t = at::full({1000}, 2000.0);
  for (const double r : {0.0, 0.3, 0.77, 1.0})
    EXPECT_TRUE((Clock(r, 2000).tau(t, t0) == 2000.0).all().item<bool>());
}

TEST(Clock, SpeedIsTheSlopeOfTau) {
  const Clock clock(0.6, 100);
  const at::Tensor t0 = at::tensor({0.0, 30.0, 100.0}, at::kDouble);
  const at::Tensor slope = clock.tau(at::full({3}, 51.0, at::kDouble), t0) -
                           clock.tau(at::full({3}, 50.0, at::kDouble), t0);
  EXPECT_LT(test::largest_difference(slope, clock.speed(t0)), 1e-12);
}

TEST(Clock, BroadcastsOneTimePerSample) {
  const Clock clock(1.0, 10);
  const at::Tensor tau = clock.tau(at::tensor({2.0, 10.0}), at::full({2, 3}, 5.0));
  EXPECT_EQ(tau.sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE((tau[0] == 6.0).all().item<bool>());
  EXPECT_TRUE((tau[1] == 10.0).all().item<bool>());
}

TEST(Clock, RefusesTimesThatDoNotFitTheSamples) {
  EXPECT_THROW(Clock(1.0, 10).tau(at::ones({3}), at::ones({4, 5})), Error);
}

TEST(Clock, RefusesFactorsOutsideTheUnitInterval) {
  EXPECT_THROW(Clock(-0.01, 10), UsageError);
  EXPECT_THROW(Clock(1.01, 10), UsageError);
  EXPECT_THROW(Clock(std::nan(""), 10), UsageError);
  EXPECT_THROW(Clock(0.5, 0), UsageError);
}

}  // namespace
}  // namespace tessera
