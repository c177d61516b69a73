#include "corpus/corpus_writer.h"
#include "files/checkpoint_manifest.h"
#include "seq2seq/tiny_model.h"
#include "support/program.h"
#include "support/tiny_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using tessera::test::file_text;
using tessera::test::kTinyRecipe;
using tessera::test::wait_until;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Long enough to be interrupted.
const std::string kLong =
    " train.steps=240 train.save_every=40 train.log_every=1"
    " train.validate_every=100 train.keep_last=2";

class TrainCommand : public tessera::test::ProgramTest {
 protected:
  TrainCommand() : ProgramTest(tessera::test::quick_place()) { write("r.toml", kTinyRecipe); }

  static std::string arguments(const std::string& out, const std::string& overrides) {
    return "--device cpu --threads 1 train r.toml train.out=" + out + " " + overrides;
  }
  static std::string resumption(const std::string& out, const std::string& overrides = "") {
    return "--device cpu --threads 1 train --resume " + out + " " + overrides;
  }

  Result train(const std::string& out, const std::string& overrides = "") const {
    return run(arguments(out, overrides));
  }
  Result resume(const std::string& out, const std::string& overrides = "") const {
    return run(resumption(out, overrides));
  }

  fs::path checkpoint(const std::string& out, int64_t step) const {
    const std::string digits = std::to_string(step);
    return folder_ / out / "checkpoints" / ("step-" + std::string(8 - digits.size(), '0') + digits);
  }

  // Whether two checkpoints hold the same weights and the same state of training, to the byte.
  bool equal(const fs::path& a, const fs::path& b) const {
    for (const char* file : {"model.safetensors", "training.safetensors"}) {
      const std::string bytes = file_text(a / file);
      if (bytes.empty() || bytes != file_text(b / file)) return false;
    }
    return true;
  }

  // Lines of metrics.jsonl; the last may be half written.
  std::vector<nlohmann::json> metrics(const std::string& out) const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(file_text(folder_ / out / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      auto value = nlohmann::json::parse(line, nullptr, false);
      if (value.is_object()) lines.push_back(std::move(value));
    }
    return lines;
  }
  int64_t step_of(const std::string& out) const {
    const auto lines = metrics(out);
    return lines.empty() ? 0 : lines.back()["step"].get<int64_t>();
  }

  // Starts the program, waits until the run has made `step` steps, sends the signal.
  Result interrupted(const std::string& command, const std::string& out, int64_t step,
                     int signal) const {
    Running program = start(command);
    EXPECT_TRUE(wait_until([&] { return step_of(out) >= step; })) << "step " << step;
    program.signal(signal);
    return program.wait();
  }
};

// ---- a run

TEST_F(TrainCommand, LeavesAModelThatGeneratesAndCanBeEvaluated) {
  const auto result = train("run");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(HasSubstr("parameters"), HasSubstr("step 24"), HasSubstr("BLEU "),
                                Not(HasSubstr("BLEU|")), Not(HasSubstr("\x1b"))));
  for (const char* file : {"config.toml", "metrics.jsonl", "data/manifest.json", "last/config.json",
                           "best/model.safetensors", "last/training.safetensors"})
    EXPECT_TRUE(fs::exists(folder_ / "run" / file)) << file;
  EXPECT_TRUE(fs::exists(checkpoint("run", 24)));
  EXPECT_TRUE(fs::equivalent(folder_ / "run/last", checkpoint("run", 24)));

  write("in", "3 March 1987\nMay 1, 2001\n");
  const auto generated = run("--device cpu generate run <in");
  EXPECT_EQ(generated.status, 0) << generated.err;
  EXPECT_EQ(std::count(generated.out.begin(), generated.out.end(), '\n'), 2);
  const auto evaluated = run("--device cpu evaluate run --split test --limit 5 --json");
  EXPECT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_EQ(nlohmann::json::parse(evaluated.out)["sentences"], 5);
  EXPECT_THAT(nlohmann::json::parse(evaluated.out)["model"].get<std::string>(),
              HasSubstr("run/checkpoints/step-000000"));
}

TEST_F(TrainCommand, LogsWhatItMeasures) {
  ASSERT_EQ(train("run").status, 0);
  std::vector<int64_t> logged, validated;
  for (const auto& line : metrics("run")) {
    (line.contains("valid_loss") ? validated : logged).push_back(line["step"]);
    EXPECT_TRUE(line.contains("loss") || line.contains("valid_bleu")) << line;
  }
  EXPECT_EQ(logged, (std::vector<int64_t>{4, 8, 12, 16, 20, 24}));
  EXPECT_EQ(validated, (std::vector<int64_t>{12, 24}));
}

TEST_F(TrainCommand, LogsLinesThatFitTheScreen) {
  const auto result = train("run");
  ASSERT_EQ(result.status, 0) << result.err;
  std::istringstream log(result.err);
  for (std::string line; std::getline(log, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(metrics("run").back()["valid_bleu_signature"].get<std::string>(),
              HasSubstr("nrefs:1|"));
}

TEST_F(TrainCommand, EndsWithWhatItReachedAndWhatToDoNext) {
  const std::string time = "\\[[-0-9 :]+\\] ";
  const std::string words = time +
                            "best: exact match [0-9.]+ % at step (12|24), kept in run/best\n" +
                            time + "next: tessera evaluate run --split test\n" +  //
                            time + "      tessera generate run < FILE\n";
  const auto trained = train("run", "train.score=exact-match");
  EXPECT_THAT(
      trained.err,
      ContainsRegex("done: run has made 24 updates; this training took 0:[0-9]+\n" + words));
  EXPECT_THAT(trained.err, HasSubstr("best so far: exact match"));
  EXPECT_THAT(resume("run").err, ContainsRegex("done: run is complete, with 24 updates\n" + words));
  // A run that generates nothing in validations is scored by its loss.
  EXPECT_THAT(train("by-loss", "train.validate_sentences=0").err,
              ContainsRegex("best: validation loss [0-9.]+ at step"));
}

TEST_F(TrainCommand, KeepsTheBestWhereverItIsFound) {
  // No checkpoint is due before the end, and the loss of a model that forgets is best at first.
  ASSERT_EQ(train("run",
                  "train.save_every=1000 train.validate_every=4 train.score=loss train.ema=0"
                  " train.learning_rate=3 train.warmup=12 train.clip=0 train.divergence_factor=0")
                .status,
            0);
  double best = 1e30;
  int64_t best_step = 0;
  for (const auto& line : metrics("run"))
    if (line.contains("valid_loss") && line["valid_loss"].get<double>() < best) {
      best = line["valid_loss"];
      best_step = line["step"];
    }
  ASSERT_LT(best_step, 24) << "this training was meant to get worse";
  EXPECT_TRUE(fs::equivalent(folder_ / "run/best", checkpoint("run", best_step)));
}

TEST_F(TrainCommand, EqualRunsWriteEqualWeights) {
  ASSERT_EQ(train("a", "train.steps=8").status, 0);
  ASSERT_EQ(train("b", "train.steps=8").status, 0);
  ASSERT_EQ(train("c", "train.steps=8 train.seed=2").status, 0);
  EXPECT_TRUE(equal(checkpoint("a", 8), checkpoint("b", 8)));
  EXPECT_FALSE(equal(checkpoint("a", 8), checkpoint("c", 8)));
  ASSERT_EQ(run("--seed 2 " + arguments("d", "train.steps=8")).status, 0);
  EXPECT_TRUE(equal(checkpoint("c", 8), checkpoint("d", 8))) << "--seed is its default";
}

TEST_F(TrainCommand, TakesEverySchedule) {
  for (const char* schedule : {"cosine", "linear", "constant", "inverse-sqrt"}) {
    const auto result = train(schedule, std::string("train.steps=8 train.schedule=") + schedule);
    EXPECT_EQ(result.status, 0) << result.err;
  }
  EXPECT_FALSE(equal(checkpoint("cosine", 8), checkpoint("constant", 8)));
}

TEST_F(TrainCommand, AccumulatesGradients) {
  const auto result = train("run", "train.accumulate=2 data.tokens=128");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = metrics("run");
  EXPECT_LT(lines[5]["loss"], lines[0]["loss"]);
}

// ---- stopping and going on

TEST_F(TrainCommand, ASignalStopsItAndItGoesOnToTheBit) {
  ASSERT_EQ(train("whole", kLong).status, 0);
  const auto stopped = interrupted(arguments("run", kLong), "run", 20, SIGTERM);
  EXPECT_EQ(stopped.status, 143) << stopped.err;
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("SIGTERM"), HasSubstr("train --resume run")));
  const int64_t step = step_of("run");
  EXPECT_LT(step, 240);
  EXPECT_TRUE(fs::equivalent(folder_ / "run/last", checkpoint("run", step)))
      << "saved after the step, not where the last checkpoint was due";

  const auto again = interrupted(resumption("run"), "run", step + 70, SIGINT);
  EXPECT_EQ(again.status, 130) << again.err;
  EXPECT_THAT(again.err, HasSubstr("going on from step " + std::to_string(step)));

  const auto finished = resume("run");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(equal(checkpoint("whole", 240), checkpoint("run", 240)));
  EXPECT_EQ(file_text(folder_ / "whole/last/README.md"), file_text(folder_ / "run/last/README.md"));
  std::vector<int64_t> steps;
  for (const auto& line : metrics("run"))
    if (line.contains("loss")) steps.push_back(line["step"]);
  ASSERT_EQ(steps.size(), 240u) << "no line is there twice, none is missing";
  for (size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i], static_cast<int64_t>(i) + 1);
}

TEST_F(TrainCommand, AValidationThatASignalPreventedIsMadeLater) {
  // Every step is followed by a validation, so the signal comes before or during one.
  const std::string often = " train.steps=24 train.validate_every=1 train.save_every=1000";
  const auto stopped = interrupted(arguments("run", often), "run", 4, SIGTERM);
  ASSERT_EQ(stopped.status, 143) << stopped.err;
  ASSERT_EQ(resume("run").status, 0);
  std::vector<int64_t> validated;
  for (const auto& line : metrics("run"))
    if (line.contains("valid_loss")) validated.push_back(line["step"]);
  ASSERT_EQ(validated.size(), 24u);
  for (size_t i = 0; i < validated.size(); ++i)
    EXPECT_EQ(validated[i], static_cast<int64_t>(i) + 1);
}

TEST_F(TrainCommand, ASignalEndsALongValidation) {
  // Left alone, it would generate for more than a minute.
  const auto begin = std::chrono::steady_clock::now();
  const auto stopped = interrupted(
      arguments("run", "train.steps=4 sampler.steps=2000 generate.noises=400"), "run", 4, SIGTERM);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(stopped.status, 143) << stopped.err;
  EXPECT_TRUE(fs::exists(checkpoint("run", 4)));
  for (const auto& line : metrics("run")) EXPECT_FALSE(line.contains("valid_loss"));
}

TEST_F(TrainCommand, KilledAtAnyMomentItGoesOnToTheBit) {
  ASSERT_EQ(train("whole", kLong).status, 0);
  EXPECT_EQ(interrupted(arguments("run", kLong), "run", 20, SIGKILL).status, -1);
  EXPECT_FALSE(fs::exists(checkpoint("run", 40)))
      << "this kill was meant to come before the first checkpoint";
  for (const int64_t step : {50, 110, 170})
    EXPECT_EQ(interrupted(resumption("run"), "run", step, SIGKILL).status, -1);
  const auto finished = resume("run");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("going on from step"));
  EXPECT_TRUE(equal(checkpoint("whole", 240), checkpoint("run", 240)));
}

TEST_F(TrainCommand, KilledWhileItMakesItsDataItStartsWithTheStoredConfig) {
  ASSERT_EQ(train("whole", "data.pairs=20000").status, 0);
  Running program = start(arguments("run", "data.pairs=20000"));
  ASSERT_TRUE(wait_until([&] { return fs::exists(folder_ / "run/config.toml"); }));
  program.signal(SIGKILL);
  EXPECT_EQ(program.wait().status, -1);
  EXPECT_FALSE(fs::exists(folder_ / "run/data"));
  const auto finished = resume("run");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(equal(checkpoint("whole", 24), checkpoint("run", 24)));
}

TEST_F(TrainCommand, ADamagedCheckpointIsPassedOver) {
  ASSERT_EQ(train("whole").status, 0);
  ASSERT_EQ(train("run").status, 0);
  fs::resize_file(checkpoint("run", 24) / "training.safetensors", 1000);
  const auto result = resume("run");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("passed over"), HasSubstr("going on from step 16")));
  EXPECT_TRUE(equal(checkpoint("whole", 24), checkpoint("run", 24)));
}

TEST_F(TrainCommand, ARunWithoutAWholeCheckpointIsNotBegunAnewUnasked) {
  ASSERT_EQ(train("run").status, 0);
  const std::string before = file_text(folder_ / "run/metrics.jsonl");
  for (const auto& entry : fs::directory_iterator(folder_ / "run/checkpoints"))
    fs::remove(entry.path() / "training.safetensors");
  const auto refused = resume("run");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("no checkpoint in 'run' is whole"),
                                 HasSubstr("remove its folder 'checkpoints'")));
  EXPECT_EQ(file_text(folder_ / "run/metrics.jsonl"), before);
  tessera::remove_tree(folder_ / "run/checkpoints");
  EXPECT_EQ(resume("run").status, 0);
}

TEST_F(TrainCommand, SaysWhatAValidationWouldComplainOfBeforeTheTraining) {
  const auto refused = train("run", "process.horizon=10 sampler.steps=11");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("sampler steps must be in [1, 10]"));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainCommand, ADryRunOfARunThatGoesOnCountsWhatIsLeft) {
  ASSERT_EQ(train("run", "train.steps=8").status, 0);
  EXPECT_THAT(resume("run", "train.steps=20 --dry-run").out,
              AllOf(HasSubstr("rest of the run"), HasSubstr("12 updates in")));
}

TEST_F(TrainCommand, ACorpusAndATaskThatMakesOneExcludeEachOther) {
  const auto refused = train("run", "data.dir=corpus");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("choose one of them"), HasSubstr("data.task=none")));
}

TEST_F(TrainCommand, AFinishedRunIsLeftAlone) {
  ASSERT_EQ(train("run").status, 0);
  const std::string before = file_text(folder_ / "run/metrics.jsonl");
  const auto result = resume("run");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("complete"));
  EXPECT_EQ(file_text(folder_ / "run/metrics.jsonl"), before);
}

TEST_F(TrainCommand, MoreStepsGoOnAsIfTheyHadBeenAskedFor) {
  ASSERT_EQ(train("whole", "train.steps=40").status, 0);
  ASSERT_EQ(train("run").status, 0);
  const auto result = resume("run", "train.steps=40 train.log_every=1 train.keep_last=9");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("the learning rate depends on")));
  EXPECT_TRUE(equal(checkpoint("whole", 40), checkpoint("run", 40)));
  EXPECT_THAT(file_text(folder_ / "run/config.toml"), HasSubstr("steps = 40"));

  ASSERT_EQ(train("cosine", "train.schedule=cosine").status, 0);
  const auto longer = resume("cosine", "train.steps=40");
  EXPECT_EQ(longer.status, 0) << longer.err;
  EXPECT_EQ(step_of("cosine"), 40);
  EXPECT_THAT(longer.err, HasSubstr("the learning rate depends on train.steps"));
  const auto shorter = resume("cosine", "train.steps=30");
  EXPECT_EQ(shorter.status, 2);
  EXPECT_THAT(shorter.err, HasSubstr("has made 40 updates already"));
}

TEST_F(TrainCommand, ARunThatStoppedEarlyStaysStopped) {
  const auto result =
      train("run", "train.steps=200 train.validate_every=4 train.patience=2 train.min_delta=1000");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stopped early"));
  EXPECT_EQ(step_of("run"), 12);
  const auto again = resume("run");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(step_of("run"), 12);
  EXPECT_EQ(resume("run", "train.patience=3").status, 0);
  EXPECT_EQ(step_of("run"), 16) << "with more patience it goes on";
}

TEST_F(TrainCommand, WhatWouldChangeTheMathematicsIsRefused) {
  ASSERT_EQ(train("run", "train.steps=4").status, 0);
  const std::string config = file_text(folder_ / "run/config.toml");
  std::string all;
  for (const char* override :
       {"process.r=0.5", "process.trajectory=vp-sqrt", "process.noise_factor=2", "data.tokens=512",
        "data.pairs=300", "train.learning_rate=1e-4", "train.seed=7", "train.clip=3",
        "train.accumulate=2", "train.schedule=constant", "model.dropout=0.2", "train.init=run"})
    all += std::string(" ") + override;
  const auto refused = resume("run", all + " train.steps=8 train.log_every=1 train.keep_last=2");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("cannot change data.pairs, data.tokens, model.dropout, "
                        "process.noise_factor, process.r, process.trajectory, train.accumulate, "
                        "train.clip, train.init, train.learning_rate, train.schedule, "
                        "train.seed:"));
  EXPECT_EQ(resume("run", "process.r=0.5").status, 2);
  // Scores of another kind cannot be compared with those from before.
  for (const char* override : {"train.score=loss", "train.validate_sentences=0", "train.out=b"})
    EXPECT_EQ(resume("run", override).status, 2) << override;
  EXPECT_EQ(file_text(folder_ / "run/config.toml"), config);
  EXPECT_EQ(resume("run", "process.r=1.0 train.log_every=2").status, 0) << "r is no change";
  EXPECT_EQ(resume("run", "train.lgo_every=2").status, 2);
}

TEST_F(TrainCommand, AnotherCorpusIsRefusedAndForgotten) {
  ASSERT_EQ(train("a", "train.steps=4").status, 0);
  ASSERT_EQ(train("b", "train.steps=4 data.pairs=300").status, 0);
  const std::string task = "data.task=none train.steps=4 data.dir=";
  ASSERT_EQ(train("run", task + "a/data").status, 0);
  const auto result = resume("run", "train.steps=8 data.dir=b/data");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("trained on other data"));
  EXPECT_EQ(resume("run", "train.steps=8").status, 0) << "the wrong folder was not stored";
  fs::rename(folder_ / "a/data", folder_ / "moved");
  const auto gone = resume("run", "train.steps=12");
  EXPECT_EQ(gone.status, 1);
  EXPECT_THAT(gone.err, AllOf(HasSubstr("the data of the run 'run'"), HasSubstr("data.dir=DIR")));
  EXPECT_EQ(resume("run", "train.steps=12 data.dir=moved").status, 0);
}

TEST_F(TrainCommand, ARunCanBeUsedFromAnotherFolder) {
  ASSERT_EQ(train("a", "train.steps=4").status, 0);
  ASSERT_EQ(train("run", "data.task=none train.steps=4 data.dir=a/data train.init=a").status, 0);
  const std::string config = file_text(folder_ / "run/config.toml");
  for (const char* path : {"a/data", "a", "run"})
    EXPECT_THAT(config, HasSubstr("\"" + (folder_ / path).string() + "\"")) << path;
  fs::create_directory(folder_ / "elsewhere");
  EXPECT_EQ(run("--version >version && cd elsewhere && " TESSERA_PROGRAM
                " --device cpu evaluate ../run --split valid --limit 2")
                .status,
            0);
  EXPECT_EQ(run("--version >version && cd elsewhere && " TESSERA_PROGRAM
                " --device cpu train --resume ../run train.steps=8")
                .status,
            0);
  EXPECT_EQ(file_text(folder_ / "run/config.toml").find("elsewhere"), std::string::npos);

  fs::rename(folder_ / "a/data", folder_ / "moved");
  const auto gone = run("--device cpu evaluate run --split valid --limit 2");
  EXPECT_EQ(gone.status, 1);
  EXPECT_THAT(gone.err, AllOf(HasSubstr("a/data"), HasSubstr("--data DIR")));
  EXPECT_EQ(run("--device cpu evaluate run --split valid --limit 2 --data moved").status, 0);
}

TEST_F(TrainCommand, ARunThatStoredRelativePathsStillWorksFromItsFolder) {
  ASSERT_EQ(train("a", "train.steps=4").status, 0);
  ASSERT_EQ(train("run", "data.task=none train.steps=4 data.dir=a/data").status, 0);
  std::string config = file_text(folder_ / "run/config.toml");
  const std::string full = (folder_ / "a/data").string();
  config.replace(config.find(full), full.size(), "a/data");
  write("run/config.toml", config);
  EXPECT_EQ(run("--device cpu evaluate run --split valid --limit 2").status, 0);
  EXPECT_EQ(resume("run", "train.steps=8").status, 0);
  EXPECT_THAT(file_text(folder_ / "run/config.toml"), HasSubstr(full));
}

TEST_F(TrainCommand, ACorpusFolderIsNotTakenForTheRun) {
  ASSERT_EQ(train("a", "train.steps=4").status, 0);
  const auto result = train("a/data", "data.task=none data.dir=a/data");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'a/data' is not empty"), HasSubstr("train.out")));
  EXPECT_FALSE(fs::exists(folder_ / "a/data/lock"));
  EXPECT_FALSE(fs::exists(folder_ / "a/data/config.toml"));
}

TEST_F(TrainCommand, ARunInPlaceOfARecipeIsToldOfResume) {
  ASSERT_EQ(train("a", "train.steps=4").status, 0);
  const auto result = run("train a");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("'a' is a run, not a recipe"), HasSubstr("train --resume a")));
  EXPECT_THAT(run("train a/data").err, HasSubstr("'a/data' is a folder, not a recipe"));
}

TEST_F(TrainCommand, ARunFolderTakesOneRunAndOneProcess) {
  Running first = start(arguments("run", kLong));
  ASSERT_TRUE(wait_until([&] { return step_of("run") >= 1; }));
  const auto second = resume("run");
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("another training"));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().status, 143);
  const auto third = train("run");
  EXPECT_EQ(third.status, 1);
  EXPECT_THAT(third.err, AllOf(HasSubstr("holds a run already"), HasSubstr("--resume run")));

  fs::remove(folder_ / "run/config.toml");
  const auto fourth = train("run");
  EXPECT_EQ(fourth.status, 1) << "checkpoints alone are no run, and are not taken over";
  EXPECT_THAT(fourth.err, HasSubstr("checkpoints"));
}

// ---- starting from a model

TEST_F(TrainCommand, StartsFromTheWeightsOfAModel) {
  ASSERT_EQ(train("a").status, 0);
  const auto result = train("b", "train.init=a train.steps=4");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_LT(metrics("b").front()["loss"], metrics("a").front()["loss"]);
  ASSERT_EQ(train("c", "train.init=a/last train.steps=4 train.learning_rate=0").status, 0);
  EXPECT_EQ(file_text(folder_ / "c/last/model.safetensors"),
            file_text(folder_ / "a/last/model.safetensors"));

  fs::rename(folder_ / "a", folder_ / "gone");
  EXPECT_EQ(resume("b", "train.steps=8").status, 0) << "a run that has begun needs it no more";
}

TEST_F(TrainCommand, AModelThatDoesNotFitIsNamed) {
  tessera::test::write_tiny_model(folder_ / "letters");
  ASSERT_EQ(train("dates", "train.steps=4").status, 0);
  const auto vocabulary = train("run", "train.init=letters");
  EXPECT_EQ(vocabulary.status, 1);
  EXPECT_THAT(vocabulary.err, AllOf(HasSubstr("'letters'"), HasSubstr("there 30")));
  const auto size = train("run", "train.init=dates model.width=32");
  EXPECT_EQ(size.status, 1);
  EXPECT_THAT(size.err, HasSubstr("do not fit this model"));
  EXPECT_EQ(train("run", "train.init=nowhere").status, 1);
  EXPECT_EQ(train("run", "train.init=dates train.steps=4").status, 0)
      << "what could not begin does not stand in the way";

  // A dictionary of the same size, with other symbols.
  std::string symbols = file_text(folder_ / "dates/last/dict.txt");
  symbols[0] = symbols[0] == '~' ? '^' : '~';
  fs::copy(folder_ / "dates/last/", folder_ / "other", fs::copy_options::recursive);
  write("other/dict.txt", symbols);
  fs::remove(folder_ / "other/manifest.json");  // now a plain model folder, not a checkpoint
  const auto other = train("run2", "train.init=other");
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, AllOf(HasSubstr("'other'"), HasSubstr("symbol 4 is")));
}

TEST_F(TrainCommand, ACheckpointOfAnotherSizeIsNamed) {
  ASSERT_EQ(train("run", "train.steps=4").status, 0);
  std::string config = file_text(folder_ / "run/config.toml");
  const std::string width = "\nwidth = 16";
  ASSERT_NE(config.find(width), std::string::npos);
  config.replace(config.find(width), width.size(), "\nwidth = 32");
  write("run/config.toml", config);
  const auto result = resume("run", "train.steps=8");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("training.safetensors"), HasSubstr("do not fit this model")));
}

TEST_F(TrainCommand, ACheckpointThatPointsOutsideTheDataIsNamed) {
  ASSERT_EQ(train("run", "train.steps=4").status, 0);
  const fs::path newest = checkpoint("run", 4);
  auto state = nlohmann::ordered_json::parse(file_text(newest / "state.json"));
  state["batch"] = int64_t{1} << 40;
  write(fs::relative(newest / "state.json", folder_.path()), state.dump());
  fs::remove(newest / "manifest.json");
  tessera::CheckpointManifest::of_folder(newest, 4, std::nullopt).write(newest);
  const auto result = resume("run", "train.steps=8");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("state.json"), HasSubstr("no batch 1099511627776")));
}

// ---- dry runs and configurations

TEST_F(TrainCommand, ADryRunSaysWhatItCostsAndLeavesNoTrace) {
  const auto result = run("--device cpu train r.toml --dry-run train.out=run");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("parameters      14728\nsymbols         71\n"),
                                HasSubstr("GiB"), HasSubstr("updates/s"), HasSubstr("24 updates")));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  const auto json = nlohmann::json::parse(run("--device cpu --json train r.toml --dry-run").out);
  EXPECT_EQ(json["parameters"], 14728);
  EXPECT_GT(json["memory_bytes"], 0);
  EXPECT_GT(json["step_seconds"], 0);
  EXPECT_EQ(run("train r.toml --dry-run train.init=nowhere").status, 1);
}

TEST_F(TrainCommand, DumpsAConfigurationThatReadsBack) {
  const auto first = run("train r.toml --dump-config process.r=0.25");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("r = 0.25\n"));
  write("dumped.toml", first.out);
  const auto second = run("train dumped.toml --dump-config");
  EXPECT_EQ(second.out, first.out);
  ASSERT_EQ(train("run", "process.r=0.25 train.steps=4").status, 0);
  EXPECT_THAT(run("train --resume run --dump-config").out, HasSubstr("r = 0.25\n"));
}

// ---- what goes wrong

TEST_F(TrainCommand, StopsWhenNumbersAreNotFinite) {
  const auto result =
      train("run", "train.learning_rate=1e6 train.warmup=0 train.clip=0 train.log_every=1");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("training diverged"), HasSubstr("train.learning_rate")));
  EXPECT_FALSE(fs::exists(folder_ / "run/last")) << "nothing of it was saved";
}

TEST_F(TrainCommand, StopsWhenNoGradientIsFiniteAndKeepsItsCheckpoints) {
  // The learning rate grows until gradients overflow; the first step is harmless.
  const auto result = train("run",
                            "train.steps=400 train.schedule=constant train.learning_rate=1e9 "
                            "train.warmup=1000000 train.clip=0 train.divergence_factor=0 "
                            "train.save_every=10");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("updates were left out"),
                                HasSubstr("training diverged: no gradient was finite in the")));
  EXPECT_TRUE(fs::exists(folder_ / "run/last/model.safetensors"));
}

TEST_F(TrainCommand, StopsWhenTheLossExplodes) {
  const auto result = train("run",
                            "train.steps=400 train.log_every=1 train.save_every=1 "
                            "train.divergence_factor=1.0001 train.divergence_window=2 "
                            "train.divergence_spikes=1 train.keep_last=1");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("training diverged: the loss explodes"),
                                HasSubstr("checkpoints from before are kept")));
  EXPECT_FALSE(fs::exists(checkpoint("run", step_of("run"))));
}

TEST_F(TrainCommand, SaysThatThereIsNoCheckpointFromBeforeADivergence) {
  const auto result = train("run",
                            "train.steps=40 train.log_every=1 train.save_every=40 "
                            "train.validate_every=40 train.divergence_factor=1.0001 "
                            "train.divergence_window=2 train.divergence_spikes=1");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("no checkpoint was saved before it"),
                                HasSubstr("train.out"), Not(HasSubstr("train.init"))));
}

TEST_F(TrainCommand, RecipesAreLaidOverEachOther) {
  write("vp.toml",
        "[needs]\ndata.kind = \"text\"\n[process]\nr = 0.25\ntrajectory = \"vp-sqrt\"\n");
  write("last.toml", "[process]\nr = 0.75\n");
  const auto dumped = run("train r.toml vp.toml last.toml train.warmup=3 --dump-config");
  EXPECT_EQ(dumped.status, 0) << dumped.err;
  EXPECT_THAT(dumped.out, AllOf(HasSubstr("\nr = 0.75\n"), HasSubstr("trajectory = \"vp-sqrt\""),
                                HasSubstr("warmup = 3\n")));
  const auto begun =
      run("--device cpu --threads 1 train r.toml vp.toml train.out=run train.steps=2");
  EXPECT_EQ(begun.status, 0) << begun.err;
  EXPECT_THAT(file_text(folder_ / "run/config.toml"),
              AllOf(HasSubstr("\nr = 0.25\n"), HasSubstr("trajectory = \"vp-sqrt\"")));
  // A run keeps the settings it began with, whatever the files say now.
  write("vp.toml", "");
  EXPECT_EQ(resume("run", "train.steps=4").status, 0);
  EXPECT_THAT(file_text(folder_ / "run/config.toml"), HasSubstr("trajectory = \"vp-sqrt\""));
}

TEST_F(TrainCommand, RecipesThatDoNotGoTogetherAreNamed) {
  write("vp.toml", "[needs]\ndata.kind = \"text\"\n[process]\nr = 0.25\n");
  write("images.toml", "[data]\nkind = \"images\"\n");
  write("table.toml", "title = \"x\"\n[[cell]]\nrow = \"a\"\n");
  const auto problem = [&](const std::string& words) {
    const auto result = run("train " + words);
    EXPECT_EQ(result.status, 2) << words;
    return result.err;
  };
  EXPECT_THAT(
      problem("images.toml vp.toml"),
      HasSubstr("'vp.toml' does not fit: it is for data.kind = \"text\", and here data.kind "
                "is \"images\""));
  EXPECT_THAT(problem("vp.toml r.toml"), HasSubstr("'vp.toml' is a method: name a recipe of data"));
  EXPECT_THAT(problem("r.toml vp.toml ./vp.toml"), HasSubstr("'./vp.toml' was read before"));
  EXPECT_THAT(problem("r.toml table.toml"), HasSubstr("'table.toml' is a table of results"));
  EXPECT_THAT(problem("r.toml train.steps=3 vp.toml"),
              HasSubstr("'vp.toml' comes too late: recipes stand before key=value"));
  EXPECT_THAT(problem("r.toml nowhere.toml"), HasSubstr("cannot read 'nowhere.toml'"));
}

TEST_F(TrainCommand, AnOldNameOfARecipeIsWarnedAboutOnce) {
  write("old.toml", "old_name = true\ninclude = [\"r.toml\"]\n");
  const auto result = run("train old.toml --dump-config");
  EXPECT_EQ(result.out, run("train r.toml --dump-config").out);
  const std::string warning = "'old.toml' is an old name that will be removed: use r.toml";
  EXPECT_THAT(result.err, HasSubstr(warning));
  EXPECT_EQ(result.err.find(warning), result.err.rfind(warning));
}

TEST_F(TrainCommand, WrongRecipesAreNamedWithTheirLine) {
  EXPECT_EQ(run("train").status, 2);
  EXPECT_EQ(run("train nowhere.toml train.out=run").status, 2);
  const auto forgotten = run("train train.out=run");
  EXPECT_EQ(forgotten.status, 2);
  EXPECT_THAT(forgotten.err, HasSubstr("name a recipe"));

  write("wrong.toml", "[train]\nsteps = 0\nlog_evry = 3\n[data]\ntask = \"date\"\n");
  const auto wrong = run("train wrong.toml train.out=run train.seed=-1");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("wrong.toml:2: 'train.steps' must be"),
                               HasSubstr("wrong.toml:3: unknown key 'train.log_evry' (did you mean "
                                         "'train.log_every'?)"),
                               HasSubstr("wrong.toml:5:"), HasSubstr("did you mean 'dates'?"),
                               HasSubstr("override 'train.seed=-1'")));
  const auto heads = train("run", "model.heads=3");
  EXPECT_EQ(heads.status, 2);
  EXPECT_THAT(heads.err, HasSubstr("heads"));
  EXPECT_EQ(train("run", "train.steps").status, 2);
  EXPECT_EQ(run("train r.toml").status, 2) << "without train.out";
  EXPECT_EQ(train("run", "train.steps=4").status, 0) << "none of these has made a run";
}

TEST_F(TrainCommand, MissingOrBrokenDataIsNamed) {
  const auto option = train("run", "data.task=none");
  EXPECT_EQ(option.status, 2);
  EXPECT_THAT(option.err, HasSubstr("data.dir"));
  const auto nowhere = train("run", "data.task=none data.dir=nowhere");
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("'nowhere'"));
  ASSERT_EQ(train("a", "train.steps=4").status, 0);
  fs::resize_file(folder_ / "a/data/train.src.ids", 100);
  const auto broken = train("run", "data.task=none data.dir=a/data");
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.err, HasSubstr("train.src.ids"));
  EXPECT_EQ(resume("nowhere").status, 1);
  EXPECT_EQ(resume("a/data").status, 1);
  write("file", "");
  EXPECT_EQ(train("file").status, 1);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainCommand, SaysThatThereIsNotEnoughMemory) {
  const auto model = train("run", "model.width=65536 model.layers=2");
  EXPECT_EQ(model.status, 1);
  EXPECT_THAT(model.err, AllOf(HasSubstr("parameters: that takes"), HasSubstr("model.width")));
  const auto batch = train("run", "data.tokens=100000000 model.layers=1000 model.feedforward=16");
  EXPECT_EQ(batch.status, 1);
  EXPECT_THAT(batch.err, AllOf(HasSubstr("batches of size "), HasSubstr("that takes"),
                               HasSubstr("lower data.tokens (now 100000000)")));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainCommand, RefusesAbsurdSizesWithTheirBounds) {
  for (const char* absurd :
       {"model.layers=100000000", "model.width=1000000000", "model.feedforward=4000000000000",
        "data.tokens=9223372036854775807", "model.positions=9223372036854775807",
        "process.horizon=9223372036854775807", "data.pairs=9223372036854775807",
        "train.accumulate=9223372036854775807", "data.round_to=9223372036854775807"}) {
    const auto result = train("run", absurd);
    EXPECT_EQ(result.status, 2) << absurd;
    EXPECT_THAT(result.err, HasSubstr("must be an integer in [")) << absurd;
  }
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainCommand, SaysThatThereIsNoSplitForValidation) {
  const auto tokenizer = tessera::test::tiny_tokenizer();
  tessera::corpus::CorpusWriter corpus(folder_ / "corpus", tokenizer);
  corpus.begin_split("train");
  for (const char* line : {"a b c d e", "f g h", "x"})
    corpus.add(line, line, tokenizer.encode(line), tokenizer.encode(line));
  corpus.commit({});
  const auto result = train("run", "data.task=none data.dir=corpus");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'corpus'"), HasSubstr("'valid'"),
                                HasSubstr("tessera prepare --valid")));
}

}  // namespace
