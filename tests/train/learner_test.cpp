#include "train/learner.h"

#include "ranks/two_processes.h"
#include "seq2seq/diffusion.h"
#include "support/temporary_folder.h"
#include "text/dictionary.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>
#include <vector>

namespace tessera::train {
namespace {

using text::Dictionary;

seq2seq::Seq2SeqOptions small_options() {
  seq2seq::Seq2SeqOptions options;
  options.network.latent = 8;
  options.network.transformer = {
      .width = 16, .feedforward = 32, .heads = 2, .layers = 1, .dropout = 0.1};
  options.network.positions = 12;
  options.process.trajectory.kind = TrajectoryKind::ot;
  return options;
}

seq2seq::Seq2SeqOptions adaptive_options() {
  seq2seq::Seq2SeqOptions options = small_options();
  options.process.r = 0;
  options.adaptive = {.stride = 3, .positions = 4};
  return options;
}

// Two batches of the same shape.
std::vector<nn::Inputs> two_batches() {
  constexpr int64_t p = Dictionary::kPad, e = Dictionary::kEos;
  const auto rows = [](std::vector<int64_t> ids) { return at::tensor(ids).view({2, 4}); };
  return {{rows({4, 5, 6, e, 7, 8, e, p}), rows({9, 10, e, p, 11, 9, 10, e})},
          {rows({6, 4, e, p, 8, 7, 5, e}), rows({10, 11, 9, e, 9, e, p, p})}};
}

struct Bench {
  explicit Bench(const LearnerOptions& options = {},
                 const seq2seq::Seq2SeqOptions& model_options = small_options(),
                 ranks::Group& group = ranks::alone())
      : model(model_options, 12, {Dictionary::kBos, Dictionary::kPad, Dictionary::kUnk}, at::kCPU,
              nn::Precision::float32, 1),
        learner(model, options, /*seed=*/3, group) {}

  // From the batches that this process computes.
  void update_from(int64_t step, const std::vector<nn::Inputs>& batches) {
    std::vector<nn::Inputs> own;
    for (size_t k = 0; k < batches.size(); ++k)
      if (learner.computes(static_cast<int64_t>(k))) own.push_back(batches[k]);
    learner.update(step, own, 1e-3);
  }

  void update(int64_t step) {
    constexpr int64_t p = Dictionary::kPad, e = Dictionary::kEos;
    const at::Tensor source = at::tensor(std::vector<int64_t>{4, 5, 6, e, 7, 8, e, p}).view({2, 4});
    const at::Tensor target =
        at::tensor(std::vector<int64_t>{9, 10, e, p, 11, 9, 10, e}).view({2, 4});
    const nn::Inputs batch{source, target};
    learner.update(step, std::span(&batch, 1), 1e-3);
  }

  seq2seq::Diffusion model;
  Learner learner;
};

TEST(Learner, EqualRunsGiveEqualBits) {
  Bench first, second;
  for (int64_t step = 0; step < 6; ++step) first.update(step);
  for (int64_t step = 0; step < 6; ++step) second.update(step);
  EXPECT_TRUE(at::equal(first.model.parameters().values(), second.model.parameters().values()));
  EXPECT_TRUE(at::equal(first.learner.average(), second.learner.average()));
}

TEST(Learner, LeavesTheDefaultGeneratorAsItWas) {
  const at::Generator& generator = at::globalContext().defaultGenerator(at::kCPU);
  const at::Tensor before = generator.get_state();
  Bench bench;
  for (int64_t step = 0; step < 2; ++step) bench.update(step);
  EXPECT_TRUE(at::equal(generator.get_state(), before));
}

TEST(Learner, RunsInThreadsDoNotMix) {
  Bench alone, together, beside;
  for (int64_t step = 0; step < 6; ++step) alone.update(step);
  std::thread other([&] {
    for (int64_t step = 0; step < 6; ++step) beside.update(step);
  });
  for (int64_t step = 0; step < 6; ++step) together.update(step);
  other.join();
  EXPECT_TRUE(at::equal(alone.model.parameters().values(), together.model.parameters().values()));
  EXPECT_TRUE(at::equal(alone.model.parameters().values(), beside.model.parameters().values()));
}

TEST(Learner, TwoProcessesMakeTheUpdatesOfOneToTheBit) {
  LearnerOptions options;
  options.accumulate = 2;
  Bench one(options);
  for (int64_t step = 0; step < 8; ++step) one.update_from(step, two_batches());
  const Measured alone = one.learner.read();
  test::play(2, [&](ranks::Group& group) {
    Bench half(options, small_options(), group);
    for (int64_t step = 0; step < 8; ++step) half.update_from(step, two_batches());
    EXPECT_TRUE(at::equal(half.model.parameters().values(), one.model.parameters().values()));
    EXPECT_TRUE(at::equal(half.learner.average(), one.learner.average()));
    const Measured shared = half.learner.read();
    EXPECT_EQ(shared.updates, alone.updates);
    EXPECT_FLOAT_EQ(static_cast<float>(shared.loss), static_cast<float>(alone.loss));
    EXPECT_EQ(shared.elements, alone.elements);
    EXPECT_EQ(shared.gradient_norm, alone.gradient_norm);
  });
}

TEST(Learner, ProcessesTakeTheStateOfTheFirst) {
  LearnerOptions options;
  options.accumulate = 2;
  test::play(2, [&](ranks::Group& group) {
    Bench bench(options, small_options(), group);
    if (!group.first()) bench.model.parameters().values().fill_(2);
    bench.learner.share_state();
    EXPECT_TRUE(at::equal(bench.model.parameters().values(), Bench().model.parameters().values()));
  });
}

TEST(Learner, RefusesMoreProcessesThanBatches) {
  test::play(2, [](ranks::Group& group) {
    EXPECT_THROW(Bench({}, small_options(), group), UsageError);
    LearnerOptions options;
    options.accumulate = 2;
    EXPECT_THROW(Bench(options, adaptive_options(), group), UsageError);  // learns beside weights
  });
}

// Runs that were begun before batches shared a variant go on as they were.
TEST(Learner, KeepsTheRuleOfARun) {
  LearnerOptions options;
  options.accumulate = 2;
  seq2seq::Seq2SeqOptions model = small_options();
  model.self_conditioning = 0.5;
  Bench joint(options, model), separate(options, model);
  separate.learner.set_rule(UpdateRule::separate);
  for (int64_t step = 0; step < 12; ++step) {
    joint.update_from(step, two_batches());
    separate.update_from(step, two_batches());
  }
  EXPECT_FALSE(at::equal(joint.model.parameters().values(), separate.model.parameters().values()));
  Bench one(LearnerOptions(), model),
      other(LearnerOptions(), model);  // a single batch: no difference
  other.learner.set_rule(UpdateRule::separate);
  for (int64_t step = 0; step < 12; ++step) {
    one.update(step);
    other.update(step);
  }
  EXPECT_TRUE(at::equal(one.model.parameters().values(), other.model.parameters().values()));
}

TEST(Learner, GoesOnToTheBit) {
  const test::TemporaryFolder folder;
  Bench whole, half;
  for (int64_t step = 0; step < 8; ++step) whole.update(step);
  for (int64_t step = 0; step < 4; ++step) half.update(step);
  safetensors::save(folder / "state", half.learner.state());
  Bench resumed;
  resumed.update(0);  // must not matter
  resumed.learner.restore(safetensors::File(folder / "state"));
  for (int64_t step = 4; step < 8; ++step) resumed.update(step);
  EXPECT_TRUE(at::equal(whole.model.parameters().values(), resumed.model.parameters().values()));
  EXPECT_TRUE(at::equal(whole.learner.average(), resumed.learner.average()));
}

TEST(Learner, ResumedRunHasTheSameWarp) {
  const test::TemporaryFolder folder;
  Bench whole({}, adaptive_options()), half({}, adaptive_options());
  const at::Tensor first = whole.model.family()->process()->warp()->table().clone();
  for (int64_t step = 0; step < 8; ++step) whole.update(step);
  for (int64_t step = 0; step < 5; ++step) half.update(step);  // warp changed, new errors counted
  safetensors::save(folder / "state", half.learner.state());
  Bench resumed({}, adaptive_options());
  resumed.learner.restore(safetensors::File(folder / "state"));
  for (int64_t step = 5; step < 8; ++step) resumed.update(step);
  const auto table = [](const Bench& bench) {
    return bench.model.family()->process()->warp()->table();
  };
  EXPECT_FALSE(at::equal(table(whole), first));
  EXPECT_FALSE(at::equal(table(whole), table(half)));
  EXPECT_TRUE(at::equal(table(whole), table(resumed)));
  EXPECT_TRUE(at::equal(whole.model.parameters().values(), resumed.model.parameters().values()));
  Bench plain;
  EXPECT_FALSE(plain.learner.state().contains("model.schedule.times"));
}

TEST(Learner, RefusesAStateOfAnotherShape) {
  const test::TemporaryFolder folder;
  Bench bench;
  auto state = bench.learner.state();
  state["updates"] = at::zeros({3});
  safetensors::save(folder / "state", state);
  EXPECT_THROW(bench.learner.restore(safetensors::File(folder / "state")), Error);
}

TEST(Learner, LeavesOutAnUpdateWhoseGradientIsNotFinite) {
  Bench bench;
  bench.update(0);
  bench.learner.read();
  const at::Tensor before = bench.model.parameters().values().clone();
  bench.model.parameters().gradients().fill_(std::nan(""));
  bench.update(1);
  EXPECT_TRUE(at::equal(before, bench.model.parameters().values()));
  const Measured measured = bench.learner.read();
  EXPECT_EQ(measured.updates, 1);
  EXPECT_EQ(measured.skipped, 1);
  bench.update(2);
  EXPECT_FALSE(at::equal(before, bench.model.parameters().values()));
}

TEST(Learner, MeasuresMeansSinceTheLastReading) {
  Bench bench;
  for (int64_t step = 0; step < 3; ++step) bench.update(step);
  const Measured measured = bench.learner.read();
  EXPECT_EQ(measured.updates, 3);
  EXPECT_EQ(measured.elements, 7);
  EXPECT_GT(measured.loss, 0);
  const std::map<std::string, double> parts(measured.parts.begin(), measured.parts.end());
  EXPECT_NEAR(measured.loss, parts.at("mse") + parts.at("cross_entropy") + 0.1 * parts.at("length"),
              1e-4);
  EXPECT_GT(measured.gradient_norm, 0);
  EXPECT_EQ(bench.learner.read().updates, 0);
}

}  // namespace
}  // namespace tessera::train
