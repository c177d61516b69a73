#include "flow/planar_model.h"

#include "flow/comparison.h"
#include "support/tensors.h"

#include <gtest/gtest.h>

namespace tessera::flow {
namespace {

// Directions on a circle make an easy task: a + b is an angle.
FlowOptions model_options() {
  FlowOptions options;
  options.cells = Cells::cones;
  options.train.updates = 160;
  options.train.runs = 2;
  options.sampler_steps = 4;
  options.samples = 300;
  return options;
}

TEST(PlanarModel, BeatsChanceByFarForBothR) {
  const FlowOptions options = model_options();
  const Scene scene(options.cells, options.codes, options.seed, at::kCPU);
  const Comparison comparison = compare(scene, options);
  const double chance = 1.0 / static_cast<double>(options.codes);
  for (const LearningCurve* curve : {&comparison.plain, &comparison.boundary}) {
    EXPECT_EQ(curve->updates.front(), 0);
    EXPECT_EQ(curve->updates.back(), options.train.updates);
    EXPECT_LT(curve->mean(0), 2 * chance) << "untrained, r = " << curve->r;
    EXPECT_GT(curve->mean(curve->updates.size() - 1), 4 * chance) << "r = " << curve->r;
    EXPECT_FALSE(curve->paths.empty());
  }
}

TEST(PlanarModel, ReversePathsAreTheSamplesThatAreCounted) {
  const Scene scene(Cells::cones, 5, 1, at::kCPU);
  const Process process({.trajectory = {.horizon = 100}, .r = 1.0});
  PlanarModel model(scene, process, {.updates = 40, .width = 16}, 7);
  for (int64_t step = 0; step < 40; ++step) model.update(step);
  const Questions questions = random_questions(scene, 64, {1, Purpose::test, 0});
  SamplerOptions sampler;
  sampler.steps = 6;
  double right = 0;
  for (const ReversePath& path : model.reverse_paths(questions, sampler)) {
    EXPECT_EQ(path.points.size(), 6u);
    right += path.wanted == path.landed;
  }
  EXPECT_EQ(right / 64, model.share_right(questions, sampler));
  // A subset of the questions starts from the same noise.
  const auto all = model.reverse_paths(questions, sampler);
  const auto part = model.reverse_paths(subset(questions, 10), sampler);
  ASSERT_EQ(part.size(), 10u);
  for (size_t i = 0; i < part.size(); ++i)
    EXPECT_EQ(part[i].points.front().x, all[i].points.front().x);
}

TEST(Questions, HaveTheirSumForAnAnswer) {
  const Scene scene(Cells::mosaic, 7, 1, at::kCPU);
  const Questions questions = random_questions(scene, 500, {1, Purpose::test, 0});
  EXPECT_TRUE((questions.first + questions.second).remainder(7).equal(questions.answer));
  EXPECT_EQ(std::get<0>(at::_unique(questions.first * 7 + questions.second)).numel(), 49);
}

TEST(LearningCurve, MeansAndStandardErrorsAreOverRuns) {
  LearningCurve curve;
  curve.updates = {0, 10};
  curve.shares = {{0.1, 0.5}, {0.2, 0.9}, {0.3, 1.0}};
  EXPECT_NEAR(curve.mean(0), 0.2, 1e-12);
  EXPECT_NEAR(curve.standard_error(0), 0.1 / std::sqrt(3.0), 1e-12);
  EXPECT_EQ(curve.updates_to_reach(0.75), 10);
  EXPECT_EQ(curve.updates_to_reach(0.95), 0);
}

}  // namespace
}  // namespace tessera::flow
