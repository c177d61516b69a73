#include "train/learner.h"

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

struct Bench {
  explicit Bench(const LearnerOptions& options = {},
                 const seq2seq::Seq2SeqOptions& model_options = small_options())
      : model(model_options, 12, {Dictionary::kBos, Dictionary::kPad, Dictionary::kUnk}, at::kCPU,
              nn::Precision::float32, 1),
        learner(model, options, /*seed=*/3) {}

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
