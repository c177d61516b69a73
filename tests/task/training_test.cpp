#include <tessera/task/training.h>

#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tiny_recipe.h"
#include "train/checkpoints.h"

#include <tessera/engine/translator.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/Generator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <locale>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::kTinyRecipe;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TrainingTest : public testing::Test {
 protected:
  TrainingRequest request(const std::string& run, std::vector<std::string> overrides = {}) const {
    overrides.push_back("train.out=" + (folder_ / run).string());
    return {.recipe_text = kTinyRecipe, .overrides = std::move(overrides), .device = "cpu"};
  }
  TrainingRequest resumption(const std::string& run,
                             std::vector<std::string> overrides = {}) const {
    return {.resume = folder_ / run, .overrides = std::move(overrides), .device = "cpu"};
  }

  // Everything that a run resumes from, as bytes.
  std::string state(const std::string& run) const {
    return read_file(train::Checkpoints(folder_ / run).newest()->folder / "training.safetensors");
  }

  // Runs a training and stops it once it has logged a step.
  static TrainingResult stopped_at(const Training& training, int64_t step) {
    std::stop_source stop;
    return training.run(stop.get_token(), [&](const TrainingProgress& progress) {
      if (progress.step >= step) stop.request_stop();
    });
  }

  test::TemporaryFolder folder_{test::quick_place()};
};

TEST_F(TrainingTest, LeavesARunThatTranslates) {
  const TrainingResult result = Training(request("run")).run();
  EXPECT_EQ(result.run, folder_ / "run");
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.steps, 24);
  EXPECT_GT(result.seconds, 0);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.best->step == 12 || result.best->step == 24);
  EXPECT_THAT(result.best->text, HasSubstr("BLEU"));
  const Translator translator(result.run, {.device = "cpu"});
  translator.translate("3 March 1987");
}

TEST_F(TrainingTest, IsStoppedByItsTokenAndGoesOnToTheBit) {
  Training(request("whole")).run();
  const TrainingResult part = stopped_at(Training(request("parts")), 8);
  EXPECT_TRUE(part.stopped);
  EXPECT_LT(part.steps, 24);
  const TrainingResult rest = Training(resumption("parts")).run();
  EXPECT_FALSE(rest.stopped);
  EXPECT_EQ(rest.steps, 24);
  EXPECT_EQ(state("parts"), state("whole"));
}

TEST_F(TrainingTest, TheSameRequestGoesOnWithARunThatIsThere) {
  const auto again = [&](const std::string& run, std::vector<std::string> overrides = {}) {
    TrainingRequest same = request(run, std::move(overrides));
    same.or_resume = true;
    return same;
  };
  Training(request("whole")).run();
  EXPECT_TRUE(stopped_at(Training(again("run")), 8).stopped);  // it begins where there is none
  fs::rename(folder_ / "run", folder_ / "moved");
  EXPECT_EQ(Training(again("moved")).run().steps, 24);
  EXPECT_EQ(state("moved"), state("whole"));
  EXPECT_THAT(complaint([&] { Training(again("moved", {"model.width=32"})); }),
              HasSubstr("cannot change model.width"));
  EXPECT_THAT(complaint([&] { Training(request("moved")).run(); }),
              HasSubstr("holds a run already"));
}

TEST_F(TrainingTest, HasNothingToDoInARunThatIsComplete) {
  Training(request("run")).run();
  const TrainingResult again = Training(resumption("run")).run();
  EXPECT_EQ(again.steps, 24);
  EXPECT_EQ(again.seconds, 0);
}

TEST_F(TrainingTest, SaysWhatItWouldTakeAndLeavesNothing) {
  const TrainingCost cost = Training(request("run", {"train.steps=1000"})).estimate();
  EXPECT_EQ(cost.device, "cpu");
  EXPECT_GT(cost.parameters, 1000);
  EXPECT_GT(cost.memory, 1 << 20);
  EXPECT_GT(cost.updates_per_second, 0);
  EXPECT_EQ(cost.updates_made, 0);
  EXPECT_EQ(cost.updates_left, 1000);
  EXPECT_NEAR(cost.hours, 1000 / cost.updates_per_second / 3600, 1e-9);
  ASSERT_FALSE(cost.facts.empty());
  EXPECT_EQ(cost.facts[1].key, "pairs");
  EXPECT_EQ(cost.facts[1].json, "200");
  EXPECT_TRUE(cost.profile.empty());
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainingTest, EstimatesTheRestOfARun) {
  stopped_at(Training(request("run")), 8);
  const TrainingCost cost = Training(resumption("run")).estimate();
  EXPECT_GE(cost.updates_made, 8);
  EXPECT_EQ(cost.updates_made + cost.updates_left, 24);
}

TEST_F(TrainingTest, ProfilesWhereATraceIsAskedFor) {
  const TrainingCost cost = Training(request("run")).estimate(folder_ / "trace.json");
  EXPECT_GT(cost.profiled_updates, 0);
  EXPECT_THAT(cost.profile, HasSubstr("aten::"));
  EXPECT_TRUE(fs::exists(folder_ / "trace.json"));
}

TEST_F(TrainingTest, ReadsARecipeFromAFileAsFromAText) {
  write_file_atomically(folder_ / "r.toml", kTinyRecipe);
  TrainingRequest of_file = request("run");
  of_file.recipe = folder_ / "r.toml";
  of_file.recipe_text = "";
  const std::string config = Training(of_file).config();
  EXPECT_EQ(config, Training(request("run")).config());
  EXPECT_THAT(config, AllOf(HasSubstr("width = 16"), HasSubstr("seed = 1\n")));
  of_file.seed = 7;
  EXPECT_THAT(Training(of_file).config(), HasSubstr("seed = 7\n"));
}

TEST_F(TrainingTest, LaysMethodsOverTheRecipe) {
  write_file_atomically(folder_ / "r.toml", kTinyRecipe);
  write_file_atomically(folder_ / "a.toml", "process.r = 0.25\ntrain.steps = 7\n");
  write_file_atomically(folder_ / "b.toml", "process.r = 0.75\n");
  TrainingRequest of_text = request("run", {"train.warmup=3"});
  of_text.methods = {folder_ / "a.toml", folder_ / "b.toml"};
  const std::string config = Training(of_text).config();
  EXPECT_THAT(config, AllOf(HasSubstr("\nr = 0.75\n"), HasSubstr("steps = 7\n"),
                            HasSubstr("warmup = 3\n")));
  TrainingRequest of_file = of_text;
  of_file.recipe = folder_ / "r.toml";
  of_file.recipe_text = "";
  EXPECT_EQ(Training(of_file).config(), config);
  of_text.overrides.push_back("process.r=1");
  EXPECT_THAT(Training(of_text).config(), HasSubstr("\nr = 1.0\n")) << "overrides come last";
  of_text.methods = {folder_ / "a.toml", folder_ / "a.toml"};
  EXPECT_THAT(complaint([&] { Training{of_text}; }), HasSubstr("was read before: name it once"));
  of_text.methods = {folder_ / ""};
  EXPECT_THAT(complaint([&] { Training{of_text}; }), HasSubstr("is a folder, not a recipe"));
}

TEST_F(TrainingTest, IsOfOneThing) {
  EXPECT_THROW(Training({}), UsageError);
  EXPECT_THROW(Training({.recipe = "r.toml", .resume = folder_ / "run"}), UsageError);
  EXPECT_THAT(complaint([&] { Training({.resume = folder_ / "run", .methods = {"m.toml"}}); }),
              HasSubstr("keeps the configuration it was begun with"));
  EXPECT_THAT(complaint([&] { Training({.methods = {"m.toml"}}); }), HasSubstr("name one of them"));
  EXPECT_THAT(complaint([&] { Training({.recipe_text = "[train]\nstep = 3\n"}); }),
              AllOf(HasSubstr("the recipe:2"), HasSubstr("did you mean 'train.steps'")));
  EXPECT_THAT(complaint([&] { Training({.recipe_text = kTinyRecipe}).run(); }),
              HasSubstr("train.out is missing"));
}

TEST_F(TrainingTest, LeavesNoFolderOfARunThatCannotBegin) {
  EXPECT_THROW(Training(request("run", {"train.init=" + (folder_ / "none").string()})).run(),
               Error);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainingTest, KeepsWhatARunBeganWith) {
  stopped_at(Training(request("run")), 8);
  EXPECT_THAT(complaint([&] { Training(resumption("run", {"model.width=32"})); }),
              HasSubstr("cannot change model.width"));
  EXPECT_THAT(complaint([&] { Training(resumption("run", {"train.score=loss"})); }),
              HasSubstr("cannot change train.score"));
  EXPECT_THAT(complaint([&] { Training(resumption("run", {"train.validate_sentences=0"})); }),
              HasSubstr("cannot change train.validate_sentences"));
  EXPECT_THAT(complaint([&] { Training(resumption("run", {"train.steps=2"})).run(); }),
              HasSubstr("train.steps cannot become 2"));
  const Training training(resumption("run", {"train.steps=16", "sampler.steps=3"}));
  EXPECT_EQ(training.run().steps, 16);
  EXPECT_THAT(Training(resumption("run")).config(), HasSubstr("steps = 16"));
}

// ---- what the library leaves alone

std::vector<std::string> environment() {
  std::vector<std::string> found;
  for (char** each = environ; *each != nullptr; ++each) found.emplace_back(*each);
  return found;
}

// What the whole process shares, as text.
std::string shared_by_the_process() {
  const at::Context& context = at::globalContext();
  std::string text = fmt::format(
      "{} {} {} {} {} {} {} {} {}", context.allowTF32CuBLAS(), context.userEnabledCuDNNSDP(),
      context.benchmarkCuDNN(), context.deterministicAlgorithms(),
      context.deterministicAlgorithmsWarnOnly(), context.deterministicFillUninitializedMemory(),
      at::get_num_threads(), fs::current_path().string(), std::locale().name());
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    text += fmt::format(" {}", reinterpret_cast<uintptr_t>(action.sa_handler));
  }
  return text;
}

TEST_F(TrainingTest, IsSilentAndLeavesTheProcessAsItWas) {
  const auto environment_before = environment();
  const std::string before = shared_by_the_process();
  const at::Generator& generator = at::globalContext().defaultGenerator(at::kCPU);
  const at::Tensor numbers_before = generator.get_state();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Training training(request("run"));
  training.estimate();
  training.run();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(environment(), environment_before);
  EXPECT_EQ(shared_by_the_process(), before);
  EXPECT_TRUE(at::equal(generator.get_state(), numbers_before));
}

TEST_F(TrainingTest, TellsALogWhatItDoes) {
  EXPECT_THAT(test::said([&] { Training(request("run")).run(); }),
              AllOf(HasSubstr("parameters"), HasSubstr("step 24  epoch"), HasSubstr("BLEU"),
                    Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace tessera
