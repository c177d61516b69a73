#include "train/trainer.h"

#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/progress_sink.h>
#include <tessera/tensor/random.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace tessera::train {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// One weight that follows the data, with noise.
class Follower final : public nn::Trainable {
 public:
  Follower() {
    weight_ = parameters_.add("weight", {8}, nn::Initial::normal(1), nn::Use::network);
    parameters_.allocate(at::kCPU, nn::Precision::float32, uint64_t{1});
  }

  void refresh() override {}
  Draws draw_for(const nn::Inputs& inputs, const TrainingStreams& streams) const override {
    return {random_normal(streams.noise, at::arange(inputs[0].size(0)), {8})};
  }
  nn::TrainingLoss loss_of(const nn::Inputs& inputs, const Draws& draws, int64_t,
                           nn::Mode) override {
    const at::Tensor loss = (*weight_ - inputs[0] - 0.1 * draws[0]).square().mean();
    return {loss, loss.detach().view({1}), at::full({}, static_cast<double>(inputs[0].size(0)))};
  }
  std::span<const std::string_view> measures() const override { return kMeasures; }

 private:
  static constexpr std::array<std::string_view, 1> kMeasures{"distance"};

  nn::Weight weight_;
};

// Five batches per epoch; each test sets the scores.
class FollowerTask final : public Task {
 public:
  nn::Trainable& model() override { return model_; }
  const nn::Trainable& model() const override { return model_; }
  int64_t batches(int64_t) const override { return 5; }
  nn::Inputs batch(int64_t epoch, int64_t number) const override {
    const int64_t at = 5 * epoch + number;
    const double value = at >= nan_from ? std::numeric_limits<double>::quiet_NaN() : 0.1 * at;
    return {at::full({3, 8}, value)};
  }
  std::string score_text(double score) const override { return fmt::format("score {}", score); }
  Validation validate(const at::Tensor& weights, int64_t step,
                      const std::function<void()>& pause) override {
    EXPECT_EQ(weights.numel(), model_.parameters().values().numel());
    if (before_validation) before_validation(step);
    pause();
    validated.push_back(step);
    return {score_at(step), {{"valid_loss", -score_at(step)}}};
  }
  safetensors::File weights_of(const fs::path&) const override { throw Error("no weights"); }
  void write_model(const fs::path& folder, const at::Tensor& weights, int64_t) const override {
    safetensors::save(folder / "model.safetensors", model_.parameters().named(weights));
  }
  fs::path data() const override { return "nowhere"; }
  std::string fingerprint() const override { return print; }
  std::string unit() const override { return "rows"; }
  std::string memory_hint() const override { return ""; }
  std::vector<Fact> facts() const override { return {}; }
  std::vector<std::string> next_commands(const fs::path&) const override { return {}; }

  std::function<double(int64_t)> score_at = [](int64_t step) { return static_cast<double>(step); };
  std::function<void(int64_t)> before_validation;
  int64_t nan_from = std::numeric_limits<int64_t>::max();  // the first batch with NaN
  std::string print = "same";
  std::vector<int64_t> validated;

 private:
  Follower model_;
};

TrainingOptions options_of(int64_t steps) {
  TrainingOptions options;
  options.run.steps = steps;
  options.run.log_every = 1;
  options.run.save_every = 1000;
  options.run.validate_every = 0;
  options.schedule.learning_rate = 0.1;
  options.schedule.warmup = 0;
  options.retention.keep_last = 10;
  return options;
}

class TrainerTest : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_ / name; }
  RunFolder create(const std::string& name) const {
    RunFolder folder = RunFolder::create(path(name));
    folder.write_config("");
    return folder;
  }

  std::vector<int64_t> saved(const std::string& name) const {
    std::vector<int64_t> steps;
    for (const Checkpoint& each : Checkpoints(path(name)).all()) steps.push_back(each.step);
    return steps;
  }

  // Everything that a run resumes from, as bytes.
  std::string state(const std::string& name) const {
    return read_file(Checkpoints(path(name)).newest()->folder / "training.safetensors");
  }

  test::TemporaryFolder folder_{test::quick_place()};
};

TEST_F(TrainerTest, MakesAllUpdatesAndSavesTheLast) {
  FollowerTask task;
  Trainer trainer(task, options_of(7));
  trainer.begin();
  const TrainingEnd end = trainer.run(create("run"));
  EXPECT_FALSE(end.stopped);
  EXPECT_GT(end.seconds, 0);
  EXPECT_EQ(trainer.step(), 7);
  EXPECT_THAT(saved("run"), ElementsAre(7));
}

TEST_F(TrainerTest, SavesEverySoManySteps) {
  FollowerTask task;
  TrainingOptions options = options_of(10);
  options.run.save_every = 4;
  Trainer(task, options).run(create("run"));
  EXPECT_THAT(saved("run"), ElementsAre(4, 8, 10));
}

TEST_F(TrainerTest, ValidatesWhenItIsDueAndAtTheEnd) {
  FollowerTask task;
  TrainingOptions options = options_of(10);
  options.run.validate_every = 4;
  Trainer(task, options).run(create("run"));
  EXPECT_THAT(task.validated, ElementsAre(4, 8, 10));
  EXPECT_EQ(Checkpoints(path("run")).best()->step, 10);
}

TEST_F(TrainerTest, StopsOnItsTokenAfterSaving) {
  FollowerTask task;
  Trainer trainer(task, options_of(100));
  std::stop_source stop;
  const TrainingEnd end = trainer.run(create("run"), stop.get_token(), [&](const auto& progress) {
    if (progress.step == 4) stop.request_stop();
  });
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(trainer.step(), 5);
  EXPECT_THAT(saved("run"), ElementsAre(5));
  EXPECT_TRUE(task.validated.empty());
}

TEST_F(TrainerTest, GoesOnToTheBit) {
  TrainingOptions options = options_of(20);
  options.run.validate_every = 3;
  FollowerTask whole, half, rest;
  Trainer(whole, options).run(create("whole"));
  std::stop_source stop;
  {
    Trainer(half, options).run(create("parts"), stop.get_token(), [&](const auto& progress) {
      if (progress.step == 7) stop.request_stop();
    });
  }
  EXPECT_NE(state("whole"), state("parts"));
  Trainer trainer(rest, options);
  const RunFolder parts = RunFolder::open(path("parts"));
  trainer.begin(parts);
  EXPECT_EQ(trainer.step(), 8);
  EXPECT_FALSE(trainer.run(parts).stopped);
  EXPECT_EQ(state("whole"), state("parts"));
  half.validated.insert(half.validated.end(), rest.validated.begin(), rest.validated.end());
  EXPECT_EQ(half.validated, whole.validated) << "each validation once";
}

TEST_F(TrainerTest, LeavesAValidationThatIsStoppedToTheRunThatGoesOn) {
  TrainingOptions options = options_of(12);
  options.run.validate_every = 4;
  FollowerTask task, rest;
  std::stop_source stop;
  task.before_validation = [&](int64_t step) {
    if (step == 8) stop.request_stop();
  };
  EXPECT_TRUE(Trainer(task, options).run(create("run"), stop.get_token()).stopped);
  EXPECT_THAT(task.validated, ElementsAre(4));
  EXPECT_EQ(saved("run").back(), 8);
  Trainer trainer(rest, options);
  const RunFolder folder = RunFolder::open(path("run"));
  trainer.begin(folder);
  trainer.run(folder);
  EXPECT_THAT(rest.validated, ElementsAre(8, 12));
}

TEST_F(TrainerTest, KeepsTheStepWhoseValidationFails) {
  TrainingOptions options = options_of(12);
  options.run.validate_every = 4;
  FollowerTask task;
  task.before_validation = [](int64_t) { throw Error("no sentences"); };
  EXPECT_EQ(complaint([&] { Trainer(task, options).run(create("run")); }), "no sentences");
  EXPECT_THAT(saved("run"), ElementsAre(4));
}

TEST_F(TrainerTest, KeepsTheCheckpointsFromBeforeItDiverges) {
  TrainingOptions options = options_of(20);
  options.run.save_every = 3;
  FollowerTask task;
  task.nan_from = 7;
  EXPECT_THAT(complaint([&] { Trainer(task, options).run(create("run")); }),
              AllOf(HasSubstr("training diverged"), HasSubstr("from before are kept")));
  EXPECT_THAT(saved("run"), ElementsAre(3, 6));
}

TEST_F(TrainerTest, StopsEarlyWhenScoresGetNoBetterAndStaysStopped) {
  TrainingOptions options = options_of(100);
  options.run.validate_every = 2;
  options.early_stop.patience = 2;
  FollowerTask task, again;
  task.score_at = [](int64_t step) { return -std::abs(static_cast<double>(step) - 4); };
  EXPECT_FALSE(Trainer(task, options).run(create("run")).stopped);
  EXPECT_THAT(task.validated, ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(Checkpoints(path("run")).best()->step, 4);
  Trainer trainer(again, options);
  const RunFolder folder = RunFolder::open(path("run"));
  trainer.begin(folder);
  const TrainingEnd end = trainer.run(folder);
  EXPECT_FALSE(end.stopped);
  EXPECT_EQ(end.seconds, 0);
  EXPECT_EQ(trainer.step(), 8);
}

TEST_F(TrainerTest, RefusesToGoOnWithOtherData) {
  FollowerTask task, other;
  Trainer(task, options_of(3)).run(create("run"));
  other.print = "another";
  Trainer trainer(other, options_of(6));
  EXPECT_THAT(complaint([&] { trainer.begin(RunFolder::open(path("run"))); }),
              HasSubstr("trained on other data"));
}

TEST_F(TrainerTest, TellsHowFarItIs) {
  TrainingOptions options = options_of(6);
  options.run.log_every = 2;
  options.run.validate_every = 4;
  FollowerTask task;
  std::vector<int64_t> steps;
  std::map<int64_t, double> scores;
  std::vector<ProgressEvent> events;
  set_progress_sink([&](const ProgressEvent& event) { events.push_back(event); });
  Trainer(task, options).run(create("run"), {}, [&](const TrainingProgress& progress) {
    EXPECT_EQ(progress.steps, 6);
    EXPECT_GT(progress.loss, 0);
    EXPECT_GT(progress.updates_per_second, 0);
    if (progress.score)
      scores[progress.step] = *progress.score;
    else
      steps.push_back(progress.step);
  });
  set_progress_sink({});
  EXPECT_THAT(steps, ElementsAre(2, 4, 6));
  EXPECT_EQ(scores, (std::map<int64_t, double>{{4, 4.0}, {6, 6.0}}));
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(events.back().label, "training");
  EXPECT_EQ(events.back().done, 6);
}

TEST_F(TrainerTest, TriesUpdatesWithoutAFolder) {
  FollowerTask task;
  Trainer trainer(task, options_of(100));
  EXPECT_GT(trainer.try_updates(1, 3), 0);
  EXPECT_EQ(trainer.step(), 4);
}

}  // namespace
}  // namespace tessera::train
