#include <tessera/base/error.h>
#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/process/objective.h>

#include "support/processes.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

struct ObjectiveBatch {
  explicit ObjectiveBatch(std::string_view trajectory = "ot", double r = 1.0)
      : process(test::process_with(trajectory, r, 100)) {}

  Loss loss(const at::Tensor& estimate, const at::Tensor& counts,
            const ObjectiveOptions& options) const {
    return objective(process, table, noised, estimate, x0, labels, counts, options);
  }

  Process process;
  EmbeddingTable table{test::normal({9, 4}, 1, at::kDouble)};
  at::Tensor labels = test::labels({2, 3}, 9, 2);
  at::Tensor x0 = table.encode(labels);
  at::Tensor eps = test::normal({2, 3, 4}, 3, at::kDouble);
  at::Tensor t = at::tensor({30.0, 80.0}, at::kDouble);
  Noised noised = process.noise(table, x0, labels, eps, t);
  at::Tensor x0_hat = x0 + 0.3 * test::normal({2, 3, 4}, 4, at::kDouble);
  at::Tensor mask = at::tensor({1, 1, 0, 1, 0, 0}).reshape({2, 3}).to(at::kBool);
};

TEST(Objective, IsTheMeanSquaredErrorPlusTheRoundingError) {
  const ObjectiveBatch batch;
  const auto loss = batch.loss(batch.x0_hat, {}, {.mse_weight = 2, .cross_entropy_weight = 0.5});
  const at::Tensor squared = (batch.x0_hat - batch.x0).square();
  EXPECT_NEAR(loss.mse.item<double>(), squared.mean().item<double>(), 1e-12);
  EXPECT_NEAR(loss.cross_entropy.item<double>(),
              batch.table.cross_entropy(batch.x0_hat, batch.labels).mean().item<double>(), 1e-12);
  EXPECT_NEAR(loss.total.item<double>(),
              2 * loss.mse.item<double>() + 0.5 * loss.cross_entropy.item<double>(), 1e-12);
  EXPECT_NEAR(batch.loss(batch.x0_hat, {}, {.dims = Dims::sum}).mse.item<double>(),
              4 * squared.mean().item<double>(), 1e-12);
}

TEST(Objective, RoundsScaledPoints) {
  const ObjectiveBatch batch;
  const auto loss = batch.loss(batch.x0_hat, {}, {.logit_scale = 0.25});
  EXPECT_NEAR(loss.cross_entropy.item<double>(),
              batch.table.cross_entropy(0.25 * batch.x0_hat, batch.labels).mean().item<double>(),
              1e-12);
  EXPECT_THROW(batch.loss(batch.x0_hat, {}, {.logit_scale = 0}), UsageError);
}

TEST(Objective, RoundsTheCleanCodesWhereAskedTo) {
  const ObjectiveBatch batch;
  const auto loss = batch.loss(batch.x0_hat, {}, {.rounding = Rounding::clean});
  EXPECT_NEAR(loss.cross_entropy.item<double>(),
              batch.table.cross_entropy(batch.x0, batch.labels).mean().item<double>(), 1e-12);
  EXPECT_NEAR(loss.mse.item<double>(), batch.loss(batch.x0_hat, {}, {}).mse.item<double>(), 0);
}

TEST(Objective, RoundsCodesWithTheNoiseOfTheFirstStep) {
  const ObjectiveBatch batch("vp-sqrt", 0);
  const auto loss = batch.loss(batch.x0_hat, {}, {.rounding = Rounding::clean_noised});
  const at::Tensor point = batch.x0 + batch.process.trajectory().v(1.0) * batch.eps;
  EXPECT_NEAR(loss.cross_entropy.item<double>(),
              batch.table.cross_entropy(point, batch.labels).mean().item<double>(), 1e-12);
  EXPECT_GT(
      std::abs(
          loss.cross_entropy.item<double>() -
          batch.loss(batch.x0_hat, {}, {.rounding = Rounding::clean}).cross_entropy.item<double>()),
      1e-3);
}

TEST(Objective, MayPunishWhatNoiseLeavesOfTheCodes) {
  const ObjectiveBatch batch("vp-linear", 0);
  const double u = batch.process.trajectory().u(100.0);
  const at::Tensor left = (u * batch.x0).square().mean(-1).masked_select(batch.mask).mean();
  const double more = (batch.loss(batch.x0_hat, batch.mask, {.terminal_weight = 1e6}).total -
                       batch.loss(batch.x0_hat, batch.mask, {}).total)
                          .item<double>();
  EXPECT_NEAR(more, 1e6 * left.item<double>(), 1e-6 * more);
  EXPECT_GT(more, 0);
}

TEST(Objective, LeavesMaskedElementsOutOfEveryTerm) {
  const ObjectiveBatch batch;
  const at::Tensor wild = at::where(batch.mask.unsqueeze(-1), batch.x0_hat, 1e6);
  for (const auto target : {Target::x0, Target::velocity, Target::noise}) {
    const ObjectiveOptions options{.target = target, .label_smoothing = 0.1};
    const auto calm = batch.loss(batch.x0_hat, batch.mask, options);
    const auto masked = batch.loss(wild, batch.mask, options);
    EXPECT_DOUBLE_EQ(calm.total.item<double>(), masked.total.item<double>());
  }
  const at::Tensor squared = (batch.x0_hat - batch.x0).square().mean(-1);
  EXPECT_NEAR(batch.loss(batch.x0_hat, batch.mask, {}).mse.item<double>(),
              squared.masked_select(batch.mask).mean().item<double>(), 1e-12);
}

TEST(Objective, OfNothingIsZero) {
  const ObjectiveBatch batch;
  const auto loss = batch.loss(batch.x0_hat, at::zeros_like(batch.mask), {});
  EXPECT_EQ(loss.total.item<double>(), 0);
}

TEST(Objective, OfTheNoiseIsTheSquaredErrorOfTheNoise) {
  const ObjectiveBatch batch("vp-linear", 0);
  const auto [u, v] = batch.process.trajectory().at(batch.noised.tau);
  const at::Tensor& x = batch.noised.x;
  const auto noise_of = [&](const at::Tensor& x0) {
    return (x - u.unsqueeze(-1) * x0) / v.unsqueeze(-1);
  };
  const at::Tensor error = (noise_of(batch.x0_hat) - noise_of(batch.x0)).square().mean();
  const auto loss = batch.loss(batch.x0_hat, {}, {.target = Target::noise, .velocity_cap = 1e9});
  EXPECT_NEAR(loss.mse.item<double>(), error.item<double>(), 1e-6 * error.item<double>());
  EXPECT_EQ(noise_weight(batch.process, batch.noised, 0.01).max().item<double>(), 0.01);
}

TEST(Objective, VelocityWeightsMatchTheClosedForms) {
  for (const double r : {0.0, 0.5}) {
    const ObjectiveBatch ot("ot", r), vp("vp-cosine", r), ve("ve", r);
    const double horizon = 100;
    const at::Tensor ot_weight = (ot.noised.speed * horizon / ot.noised.tau).square();
    EXPECT_LT(test::largest_difference(velocity_weight(ot.process, ot.noised, 1e9), ot_weight),
              1e-9);

    const at::Tensor k = vp.noised.tau.floor();
    const auto& trajectory = vp.process.trajectory();
    const at::Tensor slope = trajectory.angle((k + 1).clamp_max(horizon)) - trajectory.angle(k);
    const at::Tensor vp_weight =
        (vp.noised.speed * horizon * slope / trajectory.v(vp.noised.tau)).square();
    EXPECT_LT(test::largest_difference(velocity_weight(vp.process, vp.noised, 1e9), vp_weight),
              1e-6);

    const at::Tensor ve_weight = (ve.noised.speed * std::log(50 / 0.01)).square();
    EXPECT_LT(test::largest_difference(velocity_weight(ve.process, ve.noised, 1e9), ve_weight),
              1e-9);
  }
}

TEST(Objective, VelocityWeightsAreCappedAndVanishForPathsThatNeverExit) {
  ObjectiveBatch batch("ot", 1.0);
  batch.noised.tau = at::tensor({0.0, 1e-3, 100.0, 50.0, 60.0, 70.0}, at::kDouble).reshape({2, 3});
  batch.noised.speed = at::tensor({1.0, 1.0, 0.0, 1.0, 1.0, 1.0}, at::kDouble).reshape({2, 3});
  const auto weight = test::values(velocity_weight(batch.process, batch.noised, 10));
  EXPECT_EQ(weight[0], 10);
  EXPECT_EQ(weight[1], 10);
  EXPECT_EQ(weight[2], 0);
  EXPECT_NEAR(weight[3], 4, 1e-12);
}

TEST(Objective, GradientsMatchFiniteDifferences) {
  for (const char* name : {"ot", "vp-sqrt", "ve"}) {
    const ObjectiveBatch batch(name, 0.7);
    for (const auto target : {Target::x0, Target::velocity}) {
      for (const auto dims : {Dims::mean, Dims::sum}) {
        const ObjectiveOptions options{.target = target, .dims = dims, .label_smoothing = 0.1};
        const auto loss = [&](const at::Tensor& x0_hat) {
          return batch.loss(x0_hat, batch.mask, options).total;
        };
        EXPECT_LT(test::gradient_error(loss, batch.x0_hat), 1e-6) << name;
      }
    }
  }
}

TEST(Objective, GradientsReachTrainableCodes) {
  // Through the target, through the noisy point and through the rounding, all at once.
  const ObjectiveBatch batch("ot", 1.0);
  const at::Tensor weight = test::normal({9, 4}, 5, at::kDouble);
  const at::Tensor mix = test::normal({4, 4}, 6, at::kDouble);
  // The stopping time carries no gradient, so it stays fixed while the weights are changed.
  const EmbeddingTable fixed(weight);
  const auto held =
      batch.process.noise(fixed, fixed.encode(batch.labels), batch.labels, batch.eps, batch.t);
  const auto loss = [&](const at::Tensor& w) {
    const EmbeddingTable table(w);
    const at::Tensor x0 = table.encode(batch.labels);
    const auto [u, v] = batch.process.trajectory().at(held.tau);
    const at::Tensor x = u.unsqueeze(-1) * x0 + v.unsqueeze(-1) * batch.eps;
    return objective(batch.process, table, held, at::matmul(x, mix), x0, batch.labels, batch.mask)
        .total;
  };
  EXPECT_LT(test::gradient_error(loss, weight), 1e-6);
}

TEST(Objective, RefusesWhatIsNotFinite) {
  const ObjectiveBatch batch;
  EXPECT_THAT([&] { batch.loss(batch.x0_hat / 0, {}, {}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("x0_hat contains NaN or infinite")));
  EXPECT_THROW(batch.loss(batch.x0_hat, {}, {.velocity_cap = 0}), UsageError);
  EXPECT_THROW(batch.loss(batch.x0_hat, {}, {.mse_weight = -1}), UsageError);
}

TEST(Objective, RefusesWrongShapes) {
  const ObjectiveBatch batch;
  EXPECT_THROW(batch.loss(batch.x0_hat[0], {}, {}), Error);
  EXPECT_THROW(batch.loss(batch.x0_hat, batch.mask[0], {}), Error);
  EXPECT_THROW(batch.loss(batch.x0_hat, batch.mask.to(at::kFloat), {}), Error);
  EXPECT_THROW(batch.loss(batch.x0_hat, {}, {.label_smoothing = 1}), UsageError);
}

}  // namespace
}  // namespace tessera
