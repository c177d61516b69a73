#include <tessera/process/boundary_family.h>

#include "support/tensors.h"

#include <tessera/base/error.h>
#include <tessera/codebook/embedding_table.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

constexpr int64_t kSymbols = 9, kWidth = 4;
constexpr TrainingStreams kStreams{{1, Purpose::training_noise, 0}, {1, Purpose::training_time, 0}};

struct FamilyScene {
  EmbeddingTable table{test::unit_codes(kSymbols, kWidth, 3)};
  BoundaryFamilyOptions options{.process = {.r = 1, .noise_factor = 2}};
  at::Tensor labels = test::labels({5, 3}, kSymbols, 4);
  at::Tensor samples = at::arange(5, at::kLong);

  BoundaryFamily family() const { return BoundaryFamily(table, options); }
};

// A network whose output is half of its input plus half of the previous estimate.
at::Tensor halves(const at::Tensor& x, const at::Tensor& /*t*/, const at::Tensor& previous) {
  return 0.5 * x + 0.5 * previous;
}

TEST(BoundaryFamily, LearnsWhatProcessAndObjectiveSay) {
  const FamilyScene scene;
  const BoundaryFamily family = scene.family();
  const Draws draws = family.draw(kStreams, scene.samples, {3});
  const FamilyLoss found = training_loss(family, halves, scene.labels, {}, draws, 0);

  const Process process(scene.options.process);
  const at::Tensor t = process.draw_time(kStreams.time, scene.samples);
  const at::Tensor eps = process.draw_noise(kStreams.noise, scene.samples, {3, kWidth});
  const at::Tensor x0 = scene.table.encode(scene.labels);
  const Noised noised = process.noise(scene.table, x0, scene.labels, eps, t);
  const Loss expected =
      objective(process, scene.table, noised, 0.5 * noised.x, x0, scene.labels, {});
  EXPECT_TRUE(at::equal(found.total, expected.total));
  ASSERT_EQ(found.measures.size(0), static_cast<int64_t>(family.measures().size()));
  EXPECT_TRUE(at::equal(found.measures[0], expected.mse));
  EXPECT_EQ(family.process()->options().r, 1);
}

TEST(BoundaryFamily, ShowsTheFirstSamplesAnEstimateOfTheirOwn) {
  const FamilyScene scene;
  const BoundaryFamily family = scene.family();
  const Draws draws = family.draw(kStreams, scene.samples, {3});
  std::vector<at::Tensor> seen;
  const Denoiser network = [&](const at::Tensor& x, const at::Tensor& t,
                               const at::Tensor& previous) {
    EXPECT_EQ(t.size(0), x.size(0));
    seen.push_back(previous.clone());
    return halves(x, t, previous);
  };
  training_loss(family, network, scene.labels, {}, draws, 2);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].size(0), 2) << "the first call is for the rows that see it";
  EXPECT_EQ(seen[0].abs().max().item<double>(), 0);
  const at::Tensor input = family.corrupt(scene.labels, draws).input;
  EXPECT_TRUE(at::equal(seen[1].narrow(0, 0, 2), 0.5 * input.narrow(0, 0, 2)));
  EXPECT_EQ(seen[1].narrow(0, 2, 3).abs().max().item<double>(), 0);
  EXPECT_THROW(training_loss(family, network, scene.labels, {}, draws, 6), Error);
}

TEST(BoundaryFamily, MayLearnFromBothPasses) {
  const FamilyScene scene;
  const BoundaryFamily family = scene.family();
  const Draws draws = family.draw(kStreams, scene.samples, {3});
  const at::Tensor scale = at::ones({}).requires_grad_();
  const Denoiser network = [&](const at::Tensor& x, const at::Tensor& t,
                               const at::Tensor& previous) {
    EXPECT_FALSE(previous.requires_grad()) << "the second pass sees an estimate without a gradient";
    return scale * halves(x, t, previous);
  };
  const FamilyLoss second = training_loss(family, network, scene.labels, {}, draws, 5);
  const FamilyLoss plain = training_loss(family, network, scene.labels, {}, draws, 0);
  const FamilyLoss both =
      training_loss(family, network, scene.labels, {}, draws, 5, ConditionLoss::both);
  EXPECT_FLOAT_EQ(both.total.item<float>(), (plain.total + second.total).item<float>());
  EXPECT_TRUE(at::equal(both.measures, second.measures));
  const auto gradient = [&](const FamilyLoss& loss) {
    scale.mutable_grad() = at::Tensor();
    loss.total.backward();
    return scale.grad().item<float>();
  };
  EXPECT_NEAR(gradient(both), gradient(plain) + gradient(second), 1e-4);
  const FamilyLoss none =
      training_loss(family, network, scene.labels, {}, draws, 0, ConditionLoss::both);
  EXPECT_TRUE(at::equal(none.total, plain.total));
  EXPECT_THROW(training_loss(family, network, scene.labels, {}, draws, 2, ConditionLoss::both),
               Error);
}

TEST(BoundaryFamily, AsksTheCodesForTheTimesOfTraining) {
  FamilyScene scene;
  scene.options.process = {.trajectory = {.kind = TrajectoryKind::vp_sine}, .r = 0};
  scene.options.process.min_time_from_codes = MinTimeFromCodes::spacing;
  const BoundaryFamily family = scene.family();
  const Draws draws = family.draw(kStreams, scene.samples, {3});
  const Corrupted corrupted = family.corrupt(scene.labels, draws);
  EXPECT_TRUE(at::equal(corrupted.time, family.process()->training_time(scene.table, draws[0])));
  EXPECT_GT(corrupted.time.min().item<double>(),
            2000 * family.process()->min_time(scene.table).item<double>() - 1e-3);
  EXPECT_LT(draws[0].max().item<double>(), 1);
}

TEST(BoundaryFamily, MakesAScheduleFromErrors) {
  FamilyScene scene;
  scene.options.process = {.trajectory = {.kind = TrajectoryKind::vp_sqrt, .horizon = 100}, .r = 0};
  scene.options.adaptive = {.stride = 5, .bin = 10, .positions = 2};
  BoundaryFamily family = scene.family();
  const TimeWarp& warp = *family.process()->warp();
  const at::Tensor before = warp.table().clone();
  const Draws draws = family.draw(kStreams, scene.samples, {3});
  for (int64_t updates = 1; updates <= 4; ++updates) {
    family.observe(training_loss(family, halves, scene.labels, {}, draws, 0));
    family.updated(updates);
  }
  EXPECT_TRUE(at::equal(warp.table(), before));
  family.updated(5);
  EXPECT_FALSE(at::equal(warp.table(), before));
  EXPECT_EQ(family.state().size(), 3u);

  scene.options.process.r = 1;
  EXPECT_THROW(scene.family(), UsageError);
}

TEST(BoundaryFamily, UndoesNoiseAsTheSamplerDoes) {
  const FamilyScene scene;
  const BoundaryFamily family = scene.family();
  SamplerOptions options{.steps = 6, .seed = 7};
  const Sample found = family.reverse(halves, scene.samples, {3}, options);
  const Sample expected = Sampler(Process(scene.options.process), scene.table, halves, options)
                              .run(scene.samples, {3, kWidth});
  EXPECT_TRUE(at::equal(found.x0, expected.x0));
  EXPECT_EQ(found.calls, 6);
  EXPECT_EQ(family.calls(options), 6);
  options.steps = 0;
  EXPECT_THROW(family.calls(options), UsageError);
}

TEST(BoundaryFamily, ShowsEstimatesAsItWasToldTo) {
  FamilyScene scene;
  const at::Tensor output = test::normal({5, 3, kWidth}, 8) * 3;
  EXPECT_TRUE(at::equal(scene.family().shown(output), output));
  scene.options.clip = 1;
  EXPECT_TRUE(at::equal(scene.family().shown(output), output.clamp(-1, 1)));
  scene.options = {.condition_on = Estimate::nearest};
  EXPECT_TRUE(
      at::equal(scene.family().shown(output), scene.table.encode(scene.table.decode(output))));
}

TEST(BoundaryFamily, HasNoMeanWithoutACrossEntropy) {
  FamilyScene scene;
  const SamplerOptions options{.estimate = Estimate::mean};
  EXPECT_NO_THROW(scene.family().calls(options));
  scene.options.objective.cross_entropy_weight = 0;
  EXPECT_THROW(scene.family().calls(options), UsageError);
}

}  // namespace
}  // namespace tessera
