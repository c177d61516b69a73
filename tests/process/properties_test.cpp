// Properties that must hold for any input (docs/method.md, "Invariants").

#include <tessera/codebook/embedding_table.h>
#include <tessera/process/process.h>

#include "codebook/table_exit.h"
#include "support/tensors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera {
namespace {

Trajectory any_trajectory() {
  const auto kind =
      *rc::gen::element(TrajectoryKind::ot, TrajectoryKind::vp_sqrt, TrajectoryKind::vp_cosine,
                        TrajectoryKind::vp_linear, TrajectoryKind::vp_sine, TrajectoryKind::ve);
  return Trajectory(
      TrajectoryOptions{.kind = kind, .horizon = *rc::gen::element(10, 100, 1000, 2000)});
}

uint64_t any_seed() {
  return *rc::gen::inRange<uint64_t>(0, 1u << 30);
}
double any_fraction() {
  return *rc::gen::inRange(0, 1001) / 1000.0;
}
double any_factor() {
  return std::exp((*rc::gen::inRange(-3000, 3001)) / 1000.0);
}

// A random codebook with paths that start in their cells, in float64.
struct Paths {
  at::Tensor codes, labels, x0, eps;

  static Paths any() {
    const int64_t k = *rc::gen::inRange(2, 40), d = *rc::gen::inRange(2, 20);
    const int64_t n = *rc::gen::inRange(1, 60);
    const uint64_t seed = any_seed();
    Paths paths;
    paths.codes = test::unit_codes(k, d, seed, at::kDouble);
    paths.labels = test::labels({n}, k, seed + 1);
    paths.x0 = paths.codes.index_select(0, paths.labels);
    paths.eps = test::normal({n, d}, seed + 2, at::kDouble);
    return paths;
  }

  at::Tensor ratio() const { return table_exit_ratio(codes, x0, eps, labels).value; }
  EmbeddingTable table() const { return EmbeddingTable(codes, {.normalise = Normalise::none}); }
};

// Equal up to rounding; infinities must agree.
bool close(const at::Tensor& x, const at::Tensor& y, double relative = 1e-9) {
  return at::allclose(x, y, relative, 1e-12);
}

RC_GTEST_PROP(ClockProperties, WithoutBoundaryTauIsT, ()) {
  const Clock clock(0, 2000);
  const at::Tensor t = at::full({1}, 2000 * any_fraction(), at::kDouble);
  RC_ASSERT(at::equal(clock.tau(t, at::full({1}, 2000 * any_fraction(), at::kDouble)), t));
}

RC_GTEST_PROP(ClockProperties, TauLiesBetweenTAndTheHorizonAndGrowsWithTAndR, ()) {
  const double horizon = *rc::gen::element(10.0, 1000.0, 2000.0);
  const at::Tensor t0 = at::full({1}, horizon * any_fraction());
  const double r = any_fraction(), more_r = std::min(1.0, r + any_fraction());
  const double t = horizon * any_fraction(),
               later = std::min(horizon, t + horizon * any_fraction());
  const auto tau = [&](double factor, double time) {
    return Clock(factor, horizon).tau(at::full({1}, time), t0).item<float>();
  };
  const float slack = 1e-3f;
  RC_ASSERT(tau(r, t) >= static_cast<float>(t) - slack);
  RC_ASSERT(tau(r, t) <= static_cast<float>(horizon) + slack);
  RC_ASSERT(tau(r, later) >= tau(r, t) - slack);
  RC_ASSERT(tau(more_r, t) >= tau(r, t) - slack);
  RC_ASSERT(tau(r, horizon) == static_cast<float>(horizon));
}

RC_GTEST_PROP(StoppingTimeProperties, PathDecodesToItsSymbolUntilItExits, ()) {
  const Paths paths = Paths::any();
  const Trajectory trajectory = any_trajectory();
  const EmbeddingTable table = paths.table();
  const auto stop = stopping_time(trajectory, table, paths.x0, paths.eps, paths.labels);
  const auto decoded_at = [&](const at::Tensor& tau) {
    const auto [u, v] = trajectory.at(tau);
    return table.decode(u.unsqueeze(-1) * paths.x0 + v.unsqueeze(-1) * paths.eps);
  };
  const at::Tensor before = decoded_at(stop.t0 * any_fraction() * (1 - 1e-6));
  // A trajectory that starts noisy (ve) may have left its cell at its first time. A code with a
  // near twin (common in two dimensions) counts as lying on the border.
  const at::Tensor started = stop.t0 > 0;
  RC_ASSERT((before == paths.labels).masked_select(started).all().item<bool>());
  const at::Tensor leaves = started.logical_and(stop.no_exit.logical_not());
  const at::Tensor after =
      decoded_at((stop.t0 * (1 + 1e-6) + 1e-9).clamp_max(trajectory.horizon()));
  const at::Tensor inside_range = stop.t0 < trajectory.horizon() * (1 - 1e-5);
  RC_ASSERT(
      (after != paths.labels).masked_select(leaves.logical_and(inside_range)).all().item<bool>());
}

RC_GTEST_PROP(StoppingTimeProperties, ScalingTheScoresChangesNothing, ()) {
  const Paths paths = Paths::any();
  const double c = any_factor();
  RC_ASSERT(close(table_exit_ratio(c * paths.codes, paths.x0, paths.eps, paths.labels).value,
                  paths.ratio()));
}

RC_GTEST_PROP(StoppingTimeProperties, ScalingEverythingChangesNothing, ()) {
  const Paths paths = Paths::any();
  const double c = any_factor();
  RC_ASSERT(
      close(table_exit_ratio(c * paths.codes, c * paths.x0, c * paths.eps, paths.labels).value,
            paths.ratio()));
}

RC_GTEST_PROP(StoppingTimeProperties, ScalingCodesAndPointsDividesTheRatio, ()) {
  const Paths paths = Paths::any();
  const double c = any_factor();
  RC_ASSERT(close(table_exit_ratio(c * paths.codes, c * paths.x0, paths.eps, paths.labels).value,
                  paths.ratio() / c));
}

RC_GTEST_PROP(StoppingTimeProperties, ScalingTheNoiseMultipliesTheRatio, ()) {
  const Paths paths = Paths::any();
  const double c = any_factor();
  RC_ASSERT(close(table_exit_ratio(paths.codes, paths.x0, c * paths.eps, paths.labels).value,
                  paths.ratio() * c));
}

RC_GTEST_PROP(StoppingTimeProperties, PermutingTheVocabularyChangesNothing, ()) {
  const Paths paths = Paths::any();
  const int64_t k = paths.codes.size(0);
  const at::Tensor order =
      test::normal({k}, any_seed()).argsort();  // new row i holds old row order[i]
  const at::Tensor where = order.argsort();
  RC_ASSERT(close(table_exit_ratio(paths.codes.index_select(0, order), paths.x0, paths.eps,
                                   where.index_select(0, paths.labels))
                      .value,
                  paths.ratio()));
}

RC_GTEST_PROP(StoppingTimeProperties, SingleAndDoublePrecisionAgree, ()) {
  const Paths paths = Paths::any();
  const Trajectory trajectory("ot", 2000);
  // Both start from the same float32 numbers: where codes crowd, rounding would move the border.
  const at::Tensor codes = paths.codes.to(at::kFloat), eps = paths.eps.to(at::kFloat);
  const at::Tensor x0 = paths.x0.to(at::kFloat);
  const auto time = [&](at::ScalarType dtype) {
    return trajectory.time_of_ratio(
        table_exit_ratio(codes.to(dtype), x0.to(dtype), eps.to(dtype), paths.labels)
            .value.to(at::kDouble));
  };
  RC_ASSERT(test::largest_difference(time(at::kFloat), time(at::kDouble)) < 1.0);
}

RC_GTEST_PROP(StoppingTimeProperties, FiniteInputNeverGivesNaN, ()) {
  const int64_t k = *rc::gen::inRange(1, 10), d = *rc::gen::inRange(1, 5);
  const auto any_tensor = [](at::IntArrayRef shape) {
    const double scale = std::pow(10.0, *rc::gen::inRange(-15, 16));
    at::Tensor x = test::normal(shape, any_seed()) * scale;
    if (*rc::gen::arbitrary<bool>()) x = x.round();  // ties and zeros
    return x;
  };
  const at::Tensor codes = any_tensor({k, d}), x0 = any_tensor({8, d}), eps = any_tensor({8, d});
  const at::Tensor labels = test::labels({8}, k, any_seed());
  const Trajectory trajectory = any_trajectory();
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto exit = table_exit_ratio(codes.to(dtype), x0.to(dtype), eps.to(dtype), labels);
    RC_ASSERT(!at::isnan(exit.value).any().item<bool>());
    RC_ASSERT(!at::isnan(trajectory.time_of_ratio(exit.value)).any().item<bool>());
  }
}

}  // namespace
}  // namespace tessera
