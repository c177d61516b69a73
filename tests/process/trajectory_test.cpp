#include <tessera/base/error.h>
#include <tessera/process/trajectory.h>

#include "support/tensors.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numbers>

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Trajectory> all_trajectories(int64_t horizon = 2000) {
  std::vector<Trajectory> all;
  for (const auto& [kind, name] : EnumNames<TrajectoryKind>::values)
    all.emplace_back(name, horizon);
  return all;
}

at::Tensor times(std::initializer_list<double> list) {
  return at::tensor(list, at::kDouble);
}

// Golden values of alpha-bar, recomputed in float64 by two independent scripts; row i is time i
// + 1.
void expect_table(const Trajectory& trajectory, const std::map<int64_t, double>& golden) {
  for (const auto& [row, alpha_bar] : golden) {
    const double u = trajectory.u(static_cast<double>(row + 1));
    EXPECT_NEAR(u * u, alpha_bar, 1e-7 * alpha_bar) << name_of(trajectory.kind()) << " row " << row;
  }
}

TEST(Trajectory, MatchesTheGoldenTableOfTheSquareRootSchedule) {
  expect_table(Trajectory("vp-sqrt", 2000), {{0, 0.98535869},
                                             {1, 0.97659975},
                                             {10, 0.93451197},
                                             {100, 0.78288441},
                                             {500, 0.50444481},
                                             {1000, 0.29542332},
                                             {1500, 0.13497804},
                                             {1998, 2.0204041e-4},
                                             {1999, 2.0204041e-7}});
}

TEST(Trajectory, MatchesTheGoldenTableOfTheCosineSchedule) {
  expect_table(Trajectory("vp-cosine", 1000), {{0, 0.99995872},
                                               {1, 0.99991258},
                                               {10, 0.9992789},
                                               {100, 0.97157568},
                                               {500, 0.49228517},
                                               {900, 0.023616109},
                                               {998, 2.4287669e-6},
                                               {999, 2.4287669e-9}});
}

TEST(Trajectory, MatchesTheGoldenTableOfTheLinearSchedule) {
  expect_table(Trajectory("vp-linear", 1000), {{0, 0.9999},
                                               {1, 0.99978009},
                                               {10, 0.99780657},
                                               {100, 0.89514159},
                                               {500, 0.077796658},
                                               {900, 2.7024452e-4},
                                               {999, 4.0358298e-5}});
}

TEST(Trajectory, EndsAtTheKnownRatios) {
  EXPECT_NEAR(Trajectory("vp-sqrt", 2000).final_ratio(), 4.5e-4, 0.05e-4);
  EXPECT_NEAR(Trajectory("vp-cosine", 1000).final_ratio(), 4.9e-5, 0.05e-5);
  EXPECT_NEAR(Trajectory("vp-linear", 1000).final_ratio(), 6.4e-3, 0.05e-3);
  EXPECT_DOUBLE_EQ(Trajectory("ve", 1000).final_ratio(), 1.0 / 50);
  EXPECT_EQ(Trajectory("ot", 1000).final_ratio(), 0.0);
}

TEST(Trajectory, TheSineEndsInNoiseAlone) {
  const Trajectory trajectory("vp-sine", 1000);
  EXPECT_TRUE(trajectory.variance_preserving());
  EXPECT_EQ(trajectory.final_ratio(), 0.0);
  EXPECT_EQ(trajectory.v(600.0), 0.6);
  EXPECT_NEAR(trajectory.u(600.0), 0.8, 1e-15);
  EXPECT_NEAR(trajectory.angle(times({500})).item<double>(), std::numbers::pi / 6, 1e-15);
  EXPECT_EQ(trajectory.angle(times({1000})).item<double>(), trajectory.final_angle());
  EXPECT_NEAR(trajectory.time_of_angle(times({std::numbers::pi / 6})).item<double>(), 500, 1e-12);
  EXPECT_EQ(trajectory.time_of_angle(times({3})).item<double>(), 1000);
}

TEST(Trajectory, StartsAtTheCleanPoint) {
  for (const auto& trajectory : all_trajectories()) {
    EXPECT_EQ(trajectory.u(0.0), 1.0) << name_of(trajectory.kind());
    if (trajectory.kind() == TrajectoryKind::ve) continue;
    EXPECT_EQ(trajectory.v(0.0), 0.0) << name_of(trajectory.kind());
    EXPECT_EQ(trajectory.ratio(0.0), kInfinity);
  }
  EXPECT_DOUBLE_EQ(Trajectory("ve", 10).v(0.0), 0.01);
  EXPECT_NEAR(Trajectory("ve", 10).v(10.0), 50.0, 1e-12);
}

TEST(Trajectory, TensorsAndScalarsAgree) {
  const at::Tensor tau = times({0, 0.25, 1, 17.5, 999.999, 1000, 1999.5, 2000});
  for (const auto& trajectory : all_trajectories()) {
    const auto [u, v] = trajectory.at(tau);
    const auto rho = test::values(trajectory.ratio(tau));
    for (int64_t i = 0; i < tau.numel(); ++i) {
      const double t = tau[i].item<double>();
      EXPECT_NEAR(u[i].item<double>(), trajectory.u(t), 1e-14);
      EXPECT_NEAR(v[i].item<double>(), trajectory.v(t), 1e-13);
      if (t > 0) {
        EXPECT_NEAR(rho[i], trajectory.ratio(t), 1e-12 * trajectory.ratio(t));
      }
    }
  }
}

TEST(Trajectory, RatioFallsStrictly) {
  const at::Tensor tau = at::linspace(0.01, 2000, 40001, at::kDouble);
  for (const auto& trajectory : all_trajectories()) {
    const at::Tensor steps = trajectory.ratio(tau).diff();
    EXPECT_LT(steps.max().item<double>(), 0) << name_of(trajectory.kind());
  }
}

TEST(Trajectory, TimeOfRatioInvertsRatio) {
  const at::Tensor tau = at::linspace(0.01, 1999.99, 4001, at::kDouble);
  for (const auto& trajectory : all_trajectories())
    EXPECT_LT(test::largest_difference(trajectory.time_of_ratio(trajectory.ratio(tau)), tau), 1e-6)
        << name_of(trajectory.kind());
}

TEST(Trajectory, TimeOfRatioIsClampedAtBothEnds) {
  const at::Tensor rho = times({kInfinity, 1e30, 0, -0.0, -1, -kInfinity});
  for (const auto& trajectory : all_trajectories()) {
    const auto time = test::values(trajectory.time_of_ratio(rho));
    EXPECT_EQ(time[0], 0.0) << name_of(trajectory.kind());
    EXPECT_NEAR(time[1], 0.0, 1e-20);
    for (const int i : {2, 3, 4, 5}) EXPECT_EQ(time[i], 2000.0) << name_of(trajectory.kind());
  }
}

TEST(Trajectory, DerivativesMatchFiniteDifferences) {
  // Between whole steps: at whole steps the interpolated angle has corners.
  const at::Tensor tau = at::arange(0.5, 2000, 1.0, at::kDouble);
  const double h = 1e-4;
  for (const auto& trajectory : all_trajectories()) {
    const auto [du, dv] = trajectory.derivatives(tau);
    const auto above = trajectory.at(tau + h), below = trajectory.at(tau - h);
    const double per_s = trajectory.horizon() / (2 * h);
    EXPECT_LT(test::largest_difference((above.u - below.u) * per_s, du), 1e-4);
    EXPECT_LT(test::largest_difference((above.v - below.v) * per_s, dv), 1e-3);
  }
}

TEST(Trajectory, ComputesInTheDtypeOfItsArgument) {
  const at::Tensor tau = at::linspace(0, 2000, 101, at::kFloat);
  for (const auto& trajectory : all_trajectories()) {
    EXPECT_EQ(trajectory.at(tau).u.scalar_type(), at::kFloat);
    EXPECT_LT(test::largest_difference(trajectory.u(tau), trajectory.u(tau.to(at::kDouble))), 1e-7);
  }
}

TEST(Trajectory, HorizonOfOneStepWorks) {
  for (const auto& trajectory : all_trajectories(1)) {
    const at::Tensor tau = times({0, 0.5, 1});
    EXPECT_TRUE(at::isfinite(trajectory.u(tau)).all().item<bool>());
    EXPECT_NEAR(trajectory.time_of_ratio(trajectory.ratio(tau))[1].item<double>(), 0.5, 1e-9);
  }
}

TEST(Trajectory, PassesNaNOn) {
  const at::Tensor nan = times({std::nan("")});
  for (const auto& trajectory : all_trajectories()) {
    EXPECT_TRUE(std::isnan(trajectory.v(nan).item<double>())) << name_of(trajectory.kind());
    EXPECT_NO_THROW(trajectory.derivatives(nan));
    EXPECT_NO_THROW(trajectory.time_of_ratio(nan));
  }
}

TEST(Trajectory, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Trajectory("vp-sqrt", 0), UsageError);
  EXPECT_THROW(Trajectory(TrajectoryOptions{.kind = TrajectoryKind::ve, .sigma_min = 0}),
               UsageError);
  EXPECT_THROW(Trajectory(TrajectoryOptions{.sigma_min = 2, .sigma_max = 1}), UsageError);
  EXPECT_THROW(Trajectory("ot", 10).u(at::arange(3)), Error);
  EXPECT_THROW(Trajectory("ot", 10).angle(times({1})), Error);
}

TEST(Trajectory, SuggestsTheNearestName) {
  try {
    Trajectory("vp-sqr", 10);
    FAIL() << "an unknown name was accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("vp-sqrt"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tessera
