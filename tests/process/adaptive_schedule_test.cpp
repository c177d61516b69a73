#include <tessera/process/adaptive_schedule.h>

#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

Trajectory square_root(int64_t horizon) {
  return Trajectory("vp-sqrt", horizon);
}

at::Tensor identity(int64_t horizon, int64_t positions) {
  return TimeWarp(horizon, positions, at::kCPU).table();
}

bool grows(const at::Tensor& table) {
  return table.diff(1, 0).ge(0).all().item<bool>();
}

TEST(TimeWarp, IsTheIdentityAtFirst) {
  const TimeWarp warp(100, 3, at::kCPU);
  const at::Tensor t = at::tensor({0.0, 1.0, 33.25, 100.0}, at::kDouble);
  EXPECT_TRUE(at::equal(warp(t, 5), t.unsqueeze(1).expand({4, 5})));
  EXPECT_EQ(warp(t.to(at::kFloat), 2).scalar_type(), at::kFloat);
}

TEST(TimeWarp, InterpolatesAndGivesLaterPositionsTheLastSchedule) {
  const TimeWarp warp(2, 2, at::kCPU);
  warp.table().copy_(at::tensor({0.0, 0.0, 0.5, 1.5, 2.0, 2.0}, at::kDouble).reshape({3, 2}));
  const at::Tensor t = at::tensor({0.5, 1.5, 2.0}, at::kDouble);
  EXPECT_EQ(test::values(warp(t, 3)),
            (std::vector<double>{0.25, 0.75, 0.75, 1.25, 1.75, 1.75, 2, 2, 2}));
  EXPECT_EQ(test::values(warp(t, 1)), (std::vector<double>{0.25, 1.25, 2}));
}

// Golden values by an independent script in float64: alpha-bar of T = 20 in bins of 5.
TEST(AdaptiveSchedule, ErrorsGrowEvenlyUnderTheNewSchedule) {
  const Trajectory trajectory = square_root(20);
  const at::Tensor errors = at::tensor({0.02, 0.10, 0.30, 0.40}, at::kDouble).unsqueeze(1);
  const at::Tensor before = identity(20, 1);
  const at::Tensor after = even_schedule(trajectory, before, errors, 5);
  const auto alpha_bar = [&](const at::Tensor& table, int64_t index) {
    return trajectory.u(table.narrow(0, index + 1, 1)).square().item<double>();
  };
  const std::vector<std::tuple<int64_t, double, double>> golden{
      {0, 0.7840098052, 0.7840098052},
      {5, 0.4567537, 0.3704612092},
      {10, 0.2609219539, 0.2610989905},
      {15, 0.1065827364, 0.1231821074},
      {19, 2.552451308e-05, 2.552451308e-05}};
  for (const auto& [index, old, renewed] : golden) {
    EXPECT_NEAR(alpha_bar(before, index), old, 1e-9) << index;
    EXPECT_NEAR(alpha_bar(after, index), renewed, 1e-9) << index;
  }
  EXPECT_EQ(after[0].item<double>(), 0);
  EXPECT_EQ(after[20].item<double>(), 20);
}

TEST(AdaptiveSchedule, StaysWhereErrorsGrowEvenlyAlready) {
  // From bin to bin, errors rise by as much as the signal falls. So steps of signal become equal.
  const Trajectory trajectory = square_root(1000);
  const at::Tensor table = identity(1000, 1);
  const at::Tensor signal = trajectory.u(table.narrow(0, 1, 1000)).square();
  std::vector<at::Tensor> errors;
  for (const at::Tensor& bin : signal.split(10)) errors.push_back(1.0 - bin.mean(0));
  const at::Tensor after = even_schedule(trajectory, table, at::stack(errors), 10);
  const at::Tensor steps =
      trajectory.u(after.narrow(0, 1, 1000)).square().diff(1, 0).narrow(0, 50, 900);
  EXPECT_LT((steps.max() - steps.min()).item<double>(),
            0.2 * std::abs(steps.mean().item<double>()));
  EXPECT_TRUE(grows(after));
}

TEST(AdaptiveSchedule, CountsErrorsByTimeAndPosition) {
  AdaptiveSchedule schedule({.stride = 1, .bin = 10, .positions = 3}, square_root(40), at::kCPU);
  const at::Tensor t = at::tensor({1.0f, 10.0f, 11.0f, 40.0f});
  const at::Tensor error = test::normal({4, 5}, 1).abs();
  at::Tensor mask = at::ones({4, 5}, at::kBool);
  mask[0][1] = false;
  error[3][0] = std::nanf("");  // from an update that is left out
  schedule.observe(t, error, mask);
  const auto state = schedule.state();
  const auto cell = [&](const char* name, int64_t bin, int64_t position) {
    return state.at(name)[bin][position].item<double>();
  };
  // Every bin starts with one error: 0, 1/6, 1/3 and 1/2 for the four bins.
  EXPECT_EQ(cell("schedule.counts", 0, 0), 3);
  EXPECT_NEAR(cell("schedule.errors", 0, 0), (error[0][0] + error[1][0]).item<double>(), 1e-6);
  EXPECT_EQ(cell("schedule.counts", 0, 1), 2) << "without what is masked";
  EXPECT_NEAR(cell("schedule.errors", 0, 1), error[1][1].item<double>(), 1e-6);
  EXPECT_EQ(cell("schedule.counts", 1, 2), 4) << "later positions are counted as the last";
  EXPECT_NEAR(cell("schedule.errors", 1, 2),
              1.0 / 6 + error[2].narrow(0, 2, 3).sum().item<double>(), 1e-6);
  EXPECT_EQ(cell("schedule.counts", 3, 0), 1) << "not finite";
  EXPECT_NEAR(cell("schedule.errors", 3, 0), 0.5, 1e-12);
  EXPECT_EQ(cell("schedule.counts", 2, 1), 1);
  EXPECT_NEAR(cell("schedule.errors", 2, 1), 1.0 / 3, 1e-12);

  // Short sequences leave later positions as they are.
  schedule.observe(at::tensor({25.0f}), at::ones({1, 1}), {});
  EXPECT_EQ(cell("schedule.counts", 2, 0), 2);
  EXPECT_EQ(cell("schedule.counts", 2, 1), 1);
}

TEST(AdaptiveSchedule, ChangesWhenItIsTimeAndForgets) {
  AdaptiveSchedule schedule({.stride = 10, .start = 15, .bin = 10, .positions = 2},
                            square_root(100), at::kCPU);
  const at::Tensor counts = schedule.state().at("schedule.counts");
  std::vector<int64_t> changed;
  at::Tensor last = schedule.warp().table().clone();
  for (int64_t updates = 1; updates <= 40; ++updates) {
    const at::Tensor t = test::labels({8}, 100, updates).to(at::kFloat) + 1;
    schedule.observe(t, (t / 100).square().unsqueeze(1).expand({8, 2}), {});
    schedule.updated(updates);
    if (at::equal(last, schedule.warp().table())) continue;
    changed.push_back(updates);
    last = schedule.warp().table().clone();
    EXPECT_EQ(counts.max().item<double>(), 1) << "what was counted is forgotten";
  }
  EXPECT_EQ(changed, (std::vector<int64_t>{15, 25, 35}));
}

TEST(AdaptiveSchedule, IsMonotoneForAnyHistory) {
  for (const char* name : {"vp-sqrt", "vp-sine", "ot", "ve"}) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      // Also with bins that do not divide the horizon.
      AdaptiveSchedule schedule(
          {.stride = 1, .bin = 3 + static_cast<int64_t>(seed), .positions = 4},
          Trajectory(name, 50), at::kCPU);
      for (int64_t updates = 1; updates <= 12; ++updates) {
        const at::Tensor t = test::labels({6}, 50, 100 * seed + updates).to(at::kFloat) + 1;
        const at::Tensor error =
            test::normal({6, 5}, 100 * seed + updates + 50).mul(3).exp() - 0.01;
        schedule.observe(t, error, {});
        schedule.updated(updates);
        const at::Tensor& table = schedule.warp().table();
        ASSERT_TRUE(at::isfinite(table).all().item<bool>()) << name;
        ASSERT_TRUE(grows(table)) << name;
        ASSERT_EQ(table[0].abs().max().item<double>(), 0) << name;
        ASSERT_EQ(table[50].min().item<double>(), 50) << name;
        ASSERT_EQ(table.max().item<double>(), 50) << name;
      }
    }
  }
}

TEST(AdaptiveSchedule, GoesOnFromItsState) {
  const test::TemporaryFolder folder;
  const AdaptiveScheduleOptions options{.stride = 2, .bin = 10, .positions = 2};
  AdaptiveSchedule whole(options, square_root(100), at::kCPU);
  AdaptiveSchedule half(options, square_root(100), at::kCPU);
  const auto step = [](AdaptiveSchedule& schedule, int64_t updates) {
    const at::Tensor t = test::labels({8}, 100, updates).to(at::kFloat) + 1;
    schedule.observe(t, test::normal({8, 2}, updates).square(), {});
    schedule.updated(updates);
  };
  for (int64_t updates = 1; updates <= 6; ++updates) step(whole, updates);
  for (int64_t updates = 1; updates <= 3; ++updates) step(half, updates);
  safetensors::save(folder / "state", half.state());
  AdaptiveSchedule resumed(options, square_root(100), at::kCPU);
  resumed.restore(safetensors::File(folder / "state"), "");
  for (int64_t updates = 4; updates <= 6; ++updates) step(resumed, updates);
  for (const auto& [name, tensor] : whole.state())
    EXPECT_TRUE(at::equal(tensor, resumed.state().at(name))) << name;

  AdaptiveSchedule other({.stride = 2, .bin = 10, .positions = 3}, square_root(100), at::kCPU);
  EXPECT_THROW(other.restore(safetensors::File(folder / "state"), ""), Error);
}

TEST(AdaptiveSchedule, RefusesWhatMakesNoSense) {
  const auto make = [](const AdaptiveScheduleOptions& options) {
    AdaptiveSchedule(options, square_root(100), at::kCPU);
  };
  EXPECT_THROW(make({.stride = -1}), UsageError);
  EXPECT_THROW(make({.bin = 100}), UsageError);
  EXPECT_THROW(make({.bin = 0}), UsageError);
  EXPECT_THROW(make({.positions = 0}), UsageError);
  AdaptiveSchedule schedule({.stride = 1, .bin = 10}, square_root(100), at::kCPU);
  EXPECT_THROW(schedule.observe(at::ones({2}), at::ones({2, 3, 4}), {}), Error);
}

}  // namespace
}  // namespace tessera
