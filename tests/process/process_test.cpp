#include <tessera/base/error.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/process/process.h>

#include "support/processes.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Process long_process(std::string_view trajectory, double r, int64_t horizon = 2000) {
  return test::process_with(trajectory, r, horizon);
}

struct ProcessBatch {
  EmbeddingTable table{test::normal({50, 16}, 1)};
  at::Tensor labels = test::labels({4, 7}, 50, 2);
  at::Tensor x0 = table.encode(labels);
  at::Tensor eps = test::normal({4, 7, 16}, 3);
  at::Tensor t = at::tensor({1.0f, 400.0f, 1500.0f, 2000.0f});
};

TEST(Process, WithoutBoundaryIsPlainDiffusion) {
  const ProcessBatch batch;
  for (const auto& [kind, name] : EnumNames<TrajectoryKind>::values) {
    const Process process = long_process(name, 0);
    const auto noised = process.noise(batch.table, batch.x0, batch.labels, batch.eps, batch.t);
    EXPECT_TRUE(at::equal(noised.tau, batch.t.unsqueeze(-1).expand({4, 7}))) << name;
    const auto [u, v] = process.trajectory().at(batch.t.reshape({4, 1, 1}));
    EXPECT_TRUE(at::equal(noised.x, u * batch.x0 + v * batch.eps)) << name;
    EXPECT_FALSE(noised.outside.defined());
  }
}

TEST(Process, StartsOnTheBorderOfTheCell) {
  // At t = 0 and r = 1 a point sits where its path leaves the cell. Just before that, it still
  // decodes to its label.
  const EmbeddingTable table(test::normal({50, 16}, 1, at::kDouble));
  const at::Tensor labels = test::labels({3, 40}, 50, 2);
  const at::Tensor x0 = table.encode(labels), eps = test::normal({3, 40, 16}, 3, at::kDouble);
  const Process process = long_process("vp-sqrt", 1);
  const auto noised = process.noise(table, x0, labels, eps, at::zeros({3}, at::kDouble));
  EXPECT_LT(test::largest_difference(noised.tau, noised.t0), 1e-9);
  const auto point = [&](double offset) {
    const auto [u, v] = process.trajectory().at((noised.tau + offset).clamp(0, 2000));
    return u.unsqueeze(-1) * x0 + v.unsqueeze(-1) * eps;
  };
  const at::Tensor leaves = noised.no_exit.logical_not();
  EXPECT_TRUE((table.decode(point(-1e-3)) == labels).all().item<bool>());
  EXPECT_TRUE((table.decode(point(1e-3)) != labels).masked_select(leaves).all().item<bool>());
}

TEST(Process, EndsInPureNoiseWhateverTheBoundary) {
  const ProcessBatch batch;
  const auto noised =
      long_process("ot", 1).noise(batch.table, batch.x0, batch.labels, batch.eps, batch.t);
  EXPECT_TRUE(at::equal(noised.x[3], batch.eps[3]));
}

TEST(Process, SendsGradientsToTheCleanPoint) {
  const ProcessBatch batch;
  at::Tensor x0 = batch.x0.detach().clone().requires_grad_();
  const Process process = long_process("ot", 0.5);
  const auto noised = process.noise(batch.table, x0, batch.labels, batch.eps, batch.t);
  noised.x.sum().backward();
  const at::Tensor expected = process.trajectory().u(noised.tau).unsqueeze(-1).expand_as(x0);
  EXPECT_LT(test::largest_difference(x0.grad(), expected), 1e-6);
  EXPECT_FALSE(noised.tau.requires_grad());
}

TEST(Process, ExactIndexFollowsTheListing) {
  const EmbeddingTable table(at::tensor({1.f, 0.f, 0.f, 1.f, -1.f, .5f, .6f, .8f}).reshape({4, 2}),
                             {.normalise = Normalise::none});
  const at::Tensor labels = at::zeros({4, 1}, at::kLong), x0 = table.encode(labels);
  const at::Tensor eps = at::tensor({0.2f, 1.5f}).reshape({1, 1, 2}).expand({4, 1, 2}).contiguous();
  ProcessOptions options;
  options.trajectory.kind = TrajectoryKind::vp_sqrt;
  options.exact_index = true;
  const auto noised =
      Process(options).noise(table, x0, labels, eps, at::tensor({1.0f, 500.0f, 1000.0f, 2000.0f}));
  EXPECT_EQ(test::values(noised.t0), (std::vector<double>{29, 29, 29, 29}));
  EXPECT_EQ(test::values(noised.tau), (std::vector<double>{29, 521, 1014, 2000}));
}

TEST(Process, DrawsTimesAndNoiseFromTheirStreams) {
  ProcessOptions options;
  options.noise_factor = 4;
  const Process process(options);
  const at::Tensor samples = at::arange(20000, at::kLong);
  const at::Tensor t = process.draw_time({5, Purpose::training_time, 1}, samples);
  EXPECT_GE(t.min().item<double>(), 1);
  EXPECT_LE(t.max().item<double>(), 2000);
  EXPECT_NEAR(t.mean().item<double>(), 1000.5, 20);
  EXPECT_NEAR(
      process.draw_noise({5, Purpose::training_noise, 1}, samples, {4}).std().item<double>(), 4,
      0.05);
}

// Golden values by an independent script in float64.
TEST(Process, MinTimeFollowsTheCodes) {
  at::Tensor weight =
      at::tensor({1.0, 0.0, 0.0, 1.0, -1.0, 0.5, 0.6, 0.8}, at::kDouble).reshape({4, 2});
  EmbeddingTable table(weight, {.normalise = Normalise::l2});
  ProcessOptions options{.trajectory = {.kind = TrajectoryKind::vp_sine}, .r = 0};
  options.min_time_from_codes = MinTimeFromCodes::spacing;
  const Process process(options);
  EXPECT_NEAR(process.min_time(table).item<double>(), 0.635201729, 1e-9);
  options.min_time_from_codes = MinTimeFromCodes::spacing_plus_one;
  EXPECT_NEAR(Process(options).min_time(table).item<double>(), 0.7914308708, 1e-9);
  options.min_time = 0.9;
  EXPECT_EQ(Process(options).min_time(table).item<double>(), 0.9) << "the later of both counts";

  const at::Tensor drawn =
      process.draw_time({5, Purpose::training_time, 1}, at::arange(20000, at::kLong));
  const at::Tensor share = process.training_time(table, drawn) / 2000;
  EXPECT_EQ(share.scalar_type(), at::kFloat);
  EXPECT_NEAR(share.min().item<double>(), 0.6352, 1e-3);
  EXPECT_NEAR(share.max().item<double>(), 1, 1e-3);
  EXPECT_LT(drawn.max().item<double>(), 1);
  EXPECT_NEAR(share.mean().item<double>(), (1 + 0.6352) / 2, 3e-3);

  // The same drawn times with other codes, which are further apart.
  weight.copy_(at::tensor({1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0}, at::kDouble).reshape({4, 2}));
  table.refresh();
  EXPECT_NEAR((process.training_time(table, drawn) / 2000).min().item<double>(), std::sqrt(2.0 / 3),
              1e-3);
}

TEST(Process, WithoutABoundTimesAreWholeSteps) {
  const EmbeddingTable table(test::unit_codes(5, 2, 1));
  const Process process = long_process("ot", 0);
  const at::Tensor drawn =
      process.draw_time({5, Purpose::training_time, 1}, at::arange(100, at::kLong));
  EXPECT_TRUE(at::equal(process.training_time(table, drawn), drawn));
  EXPECT_TRUE(at::equal(drawn.floor(), drawn));
}

TEST(Process, PositionsMayHaveTheirOwnTimes) {
  const ProcessBatch batch;
  const Process plain = long_process("vp-sqrt", 0);
  const TimeWarp warp(2000, 3, at::kCPU);
  const Process warped(plain.options(), warp);
  const auto noised = [&](const Process& process) {
    return process.noise(batch.table, batch.x0, batch.labels, batch.eps, batch.t);
  };
  EXPECT_TRUE(at::equal(noised(warped).x, noised(plain).x)) << "at first all are at the same time";
  warp.table().select(1, 1).pow_(2).div_(2000);
  const Noised found = noised(warped), before = noised(plain);
  for (int64_t i = 0; i < 7; ++i) {
    const at::Tensor t = before.tau.select(1, i);
    const at::Tensor expected = i == 1 ? warp(batch.t, 2).select(1, 1).to(t.scalar_type()) : t;
    EXPECT_TRUE(at::equal(found.tau.select(1, i), expected)) << i;
  }
  EXPECT_GT(test::largest_difference(found.tau, before.tau), 10);
  EXPECT_TRUE(at::equal(warped.trajectory().u(found.tau).unsqueeze(-1) * batch.x0 +
                            warped.trajectory().v(found.tau).unsqueeze(-1) * batch.eps,
                        found.x));
  EXPECT_THROW(Process(long_process("vp-sqrt", 1).options(), warp), UsageError);
  EXPECT_THROW(Process(plain.options(), TimeWarp(1000, 3, at::kCPU)), Error);
}

TEST(Process, RefusesWhatMakesNoSense) {
  EXPECT_THROW(long_process("ot", 1.5), UsageError);
  EXPECT_THROW(long_process("ot", -0.5), UsageError);
  ProcessOptions listing;
  listing.exact_index = true;
  EXPECT_THROW(Process{listing}, UsageError);
  ProcessOptions late;
  late.min_time = 1;
  EXPECT_THROW(Process{late}, UsageError);
  ProcessOptions silent;
  silent.noise_factor = 0;
  EXPECT_THROW(Process{silent}, UsageError);

  const ProcessBatch batch;
  const Process process = long_process("ot", 1);
  const auto noise = [&](const at::Tensor& x0, const at::Tensor& labels, const at::Tensor& eps,
                         const at::Tensor& t) { process.noise(batch.table, x0, labels, eps, t); };
  EXPECT_THAT([&] { noise(batch.x0, batch.labels, batch.eps, batch.t.narrow(0, 0, 3)); },
              ThrowsMessage<Error>(HasSubstr("t must have shape [4], got [3]")));
  EXPECT_THAT([&] { noise(batch.x0, batch.labels, batch.eps[0], batch.t); },
              ThrowsMessage<Error>(HasSubstr("eps must have shape [4, 7, 16]")));
  EXPECT_THAT([&] { noise(batch.x0, batch.labels + 100, batch.eps, batch.t); },
              ThrowsMessage<Error>(HasSubstr("labels must be in [0, 50)")));
  EXPECT_THROW(
      long_process("ot", 0).noise(batch.table, batch.x0, batch.labels + 100, batch.eps, batch.t),
      Error);
  EXPECT_THAT([&] { noise(batch.x0 / 0, batch.labels, batch.eps, batch.t); },
              ThrowsMessage<Error>(HasSubstr("x0 contains NaN or infinite")));
  EXPECT_THAT([&] { noise(batch.x0, batch.labels, batch.eps, batch.t + 1); },
              ThrowsMessage<Error>(HasSubstr("t must be in [0, 2000]")));
}

}  // namespace
}  // namespace tessera
