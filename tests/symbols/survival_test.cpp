#include <tessera/symbols/survival.h>

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <tuple>

namespace tessera {
namespace {

Survival survival(SurvivalKind kind, int64_t horizon) {
  return Survival({.kind = kind, .horizon = horizon});
}

void expect_close(double value, double expected) {
  EXPECT_NEAR(value, expected, 2e-9 * std::abs(expected)) << "expected " << expected;
}

TEST(Survival, OfThePublishedSchedulesIsAsComputedIndependently) {
  using Kind = SurvivalKind;
  const std::vector<std::tuple<Kind, int64_t, double, double>> golden{
      {Kind::d3pm_cosine, 1000, 1, 0.9999793577},
      {Kind::d3pm_cosine, 1000, 10, 0.9996843094},
      {Kind::d3pm_cosine, 1000, 100, 0.9859476341},
      {Kind::d3pm_cosine, 1000, 500, 0.7027400589},
      {Kind::d3pm_cosine, 1000, 900, 0.1552150899},
      {Kind::d3pm_cosine, 1000, 999, 0.001558450162},
      {Kind::d3pm_cosine, 1000, 1000, 1.558450162e-06},
      {Kind::squared_cosine, 50, 1, 0.9982524865},
      {Kind::squared_cosine, 50, 10, 0.8987059206},
      {Kind::squared_cosine, 50, 25, 0.4938435904},
      {Kind::squared_cosine, 50, 40, 0.09404561268},
      {Kind::squared_cosine, 50, 49, 0.0009711930299},
      {Kind::squared_cosine, 50, 50, 9.711930299e-07},
      {Kind::d3pm_linear, 1000, 1, 0.98},
      {Kind::d3pm_linear, 1000, 10, 0.7809723098},
      {Kind::d3pm_linear, 1000, 50, 0.1046502214},
      {Kind::d3pm_linear, 1000, 100, 0.0007860846112},
      {Kind::log_linear, 1000, 250, 0.75025},
      {Kind::log_linear, 1000, 500, 0.5005},
      {Kind::log_linear, 1000, 1000, 0.001},
      {Kind::cosine, 1000, 250, 0.6176794038},
      {Kind::cosine, 1000, 500, 0.2934487972},
      {Kind::cosine, 1000, 1000, 1.233700296e-06},
      {Kind::geometric, 1000, 0, 0.999900005},
      {Kind::geometric, 1000, 500, 0.9562638985},
      {Kind::geometric, 1000, 1000, 2.061153622e-09},
      {Kind::linear, 50, 20, 0.6},
  };
  for (const auto& [kind, horizon, t, expected] : golden) {
    SCOPED_TRACE(std::string(name_of(kind)) + " at " + std::to_string(t));
    expect_close(survival(kind, horizon).alpha(t), expected);
  }
}

TEST(Survival, HasTheRatesOfItsSchedule) {
  const Survival log_linear = survival(SurvivalKind::log_linear, 1000);
  expect_close(log_linear.sigma(250), 0.2873487947);
  expect_close(log_linear.sigma_rate(250), 1.331556148);
  expect_close(log_linear.sigma_rate(500), 1.996003996);
  expect_close(log_linear.sigma_rate(1000), 999);
  const Survival cosine = survival(SurvivalKind::cosine, 1000);
  expect_close(cosine.sigma_rate(250) * cosine.alpha(250), 1.45001106);
  expect_close(cosine.sigma_rate(500) * cosine.alpha(500), 1.110481157);
  const Survival sqrt_cosine({.kind = SurvivalKind::sqrt_cosine, .horizon = 1000, .rate = 1});
  expect_close(sqrt_cosine.sigma(250), 0.03881347673);
  expect_close(sqrt_cosine.sigma_rate(250), 0.3126956711);
  expect_close(sqrt_cosine.sigma(900), 0.6044820294);
  expect_close(sqrt_cosine.sigma_rate(900), 1.96129801);
}

TEST(Survival, RatesAreDerivatives) {
  for (const auto& [kind, name] : EnumNames<SurvivalKind>::values) {
    SCOPED_TRACE(name);
    const Survival chosen = survival(kind, 100);
    for (const double t : {20.3, 50.5, 80.7}) {
      const double difference = (chosen.sigma(t + 1e-4) - chosen.sigma(t - 1e-4)) / 2e-4 * 100;
      EXPECT_NEAR(chosen.sigma_rate(t), difference, 1e-5 * difference);
    }
  }
}

// For a log-linear schedule it is 1/s, whatever epsilon is.
TEST(Survival, HazardIsTheRateOfUncovering) {
  const at::Tensor t = at::tensor({0.3, 10.0, 50.0, 99.0}, at::kDouble);
  for (const double epsilon : {1e-3, 0.1}) {
    const Survival log_linear({.horizon = 100, .epsilon = epsilon});
    EXPECT_TRUE(at::allclose(log_linear.hazard(t), 100 / t, 1e-12));
    EXPECT_TRUE(at::allclose(log_linear.sigma_rate(t) * log_linear.alpha(t) / log_linear.lost(t),
                             100 / t, 1e-10));
  }
}

TEST(Survival, KeepsItsDigitsNearTheData) {
  const at::Tensor t = at::tensor({1e-9}, at::kDouble);
  EXPECT_NEAR(survival(SurvivalKind::log_linear, 1).lost(t).item<double>(), 0.999e-9, 1e-20);
  EXPECT_NEAR(survival(SurvivalKind::cosine, 1).lost(t).item<double>() * 1e9, 0.999 * M_PI / 2,
              1e-6);
}

TEST(Survival, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Survival({.horizon = 0}), UsageError);
  EXPECT_THROW(Survival({.epsilon = 1}), UsageError);
  EXPECT_THROW(Survival({.sigma_min = 3, .sigma_max = 2}), UsageError);
}

}  // namespace
}  // namespace tessera
