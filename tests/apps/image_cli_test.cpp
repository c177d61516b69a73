// Images from end to end, as a person would do it: prepare, train, resume, sample, evaluate.

#include "image/made_images.h"
#include "image/png.h"
#include "image_metric/tiny_extractor.h"
#include "support/program.h"
#include "support/wait_until.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kRecipe = R"([data]
kind = "images"
dir = "set"
batch = 4
[model]
width = 8
stages = 2
blocks = 1
attention_side = 0
conditional = true
[train]
out = "run"
steps = 4
save_every = 2
validate_every = 2
log_every = 1
learning_rate = 1e-3
ema = 0.5
[sampler]
steps = 3
)";

class ImageCommands : public tessera::test::ProgramTest {
 protected:
  ImageCommands() : ProgramTest(tessera::test::quick_place()) {
    tessera::test::write_cifar10(folder_ / "cifar", 4);
    write("r.toml", kRecipe);
    tessera::test::write_tiny_extractor(folder_ / "tiny.pt");
    expect_done("prepare --images cifar10 --from cifar --out set");
  }

  std::string expect_done(const std::string& arguments) const {
    const auto result = run("--device cpu --threads 1 " + arguments);
    EXPECT_EQ(result.status, 0) << arguments << '\n' << result.err;
    return result.out;
  }
  void expect_error(const std::string& arguments, int status, const std::string& message) const {
    expect_failure("--device cpu --threads 1 " + arguments, status, HasSubstr(message));
  }
  std::string weights(const std::string& run) const {
    return tessera::test::file_text(folder_ / run / "last/model.safetensors");
  }
};

TEST_F(ImageCommands, TrainSampleAndMeasure) {
  expect_done("--quiet train r.toml");
  const nlohmann::json metrics = nlohmann::json::parse("[" + [&] {
    std::string lines = tessera::test::file_text(folder_ / "run/metrics.jsonl");
    lines.pop_back();
    for (size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 2)
      lines.replace(at, 1, ",\n");
    return lines;
  }() + "]");
  EXPECT_TRUE(metrics.back().contains("valid_loss"));
  EXPECT_TRUE(metrics.front().contains("images_per_second"));

  expect_done("--quiet sample run --count 4 --grid grid.png --out pngs --npz a.npz");
  EXPECT_TRUE(fs::exists(folder_ / "pngs/000003.png"));
  EXPECT_TRUE(fs::exists(folder_ / "a.npz"));
  const at::Tensor grid = tessera::image::read_png(folder_ / "grid.png");
  EXPECT_EQ(grid.size(0), 3);
  EXPECT_EQ(grid.size(1), 2 * (2 * 32) + 3 * 2);

  expect_done("--quiet sample run --count 2 --class cat --guidance 2 --grid cats.png");
  expect_done("--quiet sample run --count 2 --show-steps film.html");
  EXPECT_THAT(tessera::test::file_text(folder_ / "film.html"),
              AllOf(HasSubstr("data:image/png;base64,"), HasSubstr("type=\"range\"")));

  const nlohmann::json report = nlohmann::json::parse(
      expect_done("--json --quiet evaluate run --count 12 --features tiny.pt --stats s.safetensors "
                  "--kid --nearest near.png"));
  EXPECT_EQ(report["images"], 12);
  EXPECT_EQ(report["nfe"], 4) << "3 steps and the final call";
  EXPECT_EQ(report["distance"]["name"], "FD-tiny");
  EXPECT_GT(report["distance"]["value"], 0);
  EXPECT_TRUE(report.contains("kernel_distance"));
  EXPECT_GT(report["nearest"]["made"], 0);
  EXPECT_TRUE(fs::exists(folder_ / "s.safetensors"));
  EXPECT_TRUE(fs::exists(folder_ / "near.png"));
  const nlohmann::json again = nlohmann::json::parse(expect_done(
      "--json --quiet evaluate run --count 12 --features tiny.pt --stats s.safetensors"));
  EXPECT_NEAR(again["distance"]["value"], report["distance"]["value"], 1e-6);

  tessera::test::write_cifar10(folder_ / "more", 5);
  expect_done("prepare --images cifar10 --from more --out other");
  expect_error("evaluate run --data other --count 12 --features tiny.pt --stats s.safetensors", 1,
               "the statistics in 's.safetensors' are of other images than those in 'other'");
}

TEST_F(ImageCommands, RunsModelsAndDataCanBeLookedAt) {
  expect_done("--quiet train r.toml");
  EXPECT_THAT(
      expect_done("inspect run"),
      AllOf(HasSubstr("images of 32 x 32, 3 colours, as bits; 10 classes, which it is told"),
            HasSubstr("validation loss"), HasSubstr("t0/T, mean"), Not(HasSubstr("BLEU"))));
  EXPECT_THAT(expect_done("inspect set"),
              AllOf(HasSubstr("32 x 32, RGB"), HasSubstr("airplane"), HasSubstr("by class")));
  EXPECT_EQ(nlohmann::json::parse(expect_done("--json inspect set"))["splits"]["train"]["images"],
            20);
  expect_done("--quiet average run --last 2 --out mean");
  expect_done("--quiet sample mean --count 1 --grid mean.png");
  expect_done("--quiet report run --out page.html");
}

TEST_F(ImageCommands, AStoppedRunGoesOnToTheBit) {
  expect_done("--quiet train r.toml train.out=whole");
  expect_done("--quiet train r.toml train.out=half train.steps=2 train.schedule=constant");
  expect_done("--quiet train --resume half train.steps=4");
  EXPECT_EQ(weights("whole"), weights("half"));
}

TEST_F(ImageCommands, EqualSeedsMakeEqualImages) {
  expect_done("--quiet train r.toml");
  for (const char* place : {"a.png", "b.png"})
    expect_done("--quiet --seed 3 sample run --count 3 --grid " + std::string(place));
  expect_done("--quiet --seed 4 sample run --count 3 --grid c.png");
  const auto picture = [&](const char* name) { return tessera::test::file_text(folder_ / name); };
  EXPECT_EQ(picture("a.png"), picture("b.png"));
  EXPECT_NE(picture("a.png"), picture("c.png"));
  expect_done("--quiet --seed 3 sample run --count 3 --precision bfloat16 --grid d.png");
  const auto rounded = run("--device cpu sample run --count 3 --precision int8 --grid e.png");
  EXPECT_EQ(rounded.status, 2);
  EXPECT_THAT(rounded.err, HasSubstr("int8 is for text"));
}

TEST_F(ImageCommands, SeveralModelsStandInOnePicture) {
  expect_done("--quiet train r.toml");
  expect_done("--quiet train r.toml train.out=learnt model.coding=trainable");
  const auto result =
      run("--device cpu --threads 1 --seed 3 sample run learnt --count 3 --grid both.png");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("row 1: run (bits)\n"), HasSubstr("row 2: learnt (trainable)\n"),
                    Not(HasSubstr("same noise"))));
  // Each row is what its model makes alone.
  const at::Tensor both = tessera::image::read_png(folder_ / "both.png");
  constexpr int64_t kRow = 2 * 32 + 2;
  ASSERT_EQ(both.size(1), 2 * kRow + 2);
  ASSERT_EQ(both.size(2), 3 * kRow + 2);
  int64_t row = 0;
  for (const char* model : {"run", "learnt"}) {
    expect_done("--quiet --seed 3 sample " + std::string(model) +
                " --count 3 --columns 3 --grid one.png");
    const at::Tensor one = tessera::image::read_png(folder_ / "one.png");
    EXPECT_TRUE(at::equal(both.narrow(1, kRow * row++, kRow), one.narrow(1, 0, kRow))) << model;
  }

  expect_done("--quiet train r.toml train.out=plain model.coding=pixels process.r=0");
  const auto mixed = run("--device cpu --threads 1 --json sample run plain --count 1 --grid g.png");
  ASSERT_EQ(mixed.status, 0) << mixed.err;
  EXPECT_THAT(mixed.err, HasSubstr("'run' and 'plain' do not begin with the same noise: a code has "
                                   "8 numbers and 1"));
  EXPECT_EQ(nlohmann::json::parse(mixed.out)["rows"][1]["coding"], "pixels");
  expect_error("sample run learnt --npz a.npz --grid g.png", 2, "and nothing else");
  expect_error("sample run learnt --columns 2 --grid g.png", 2, "leave out --columns");
}

TEST_F(ImageCommands, ASampleThatIsStoppedLeavesNoHalfFile) {
  expect_done("--quiet train r.toml");
  Running program =
      start("--device cpu sample run --count 1000000 --batch 4 --npz a.npz --out pngs");
  ASSERT_TRUE(tessera::test::wait_until([&] { return fs::exists(folder_ / "pngs/000003.png"); }));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().status, 143);
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().filename().string(),
                AllOf(Not(StartsWith(".tessera-tmp")), Not("a.npz")));
}

TEST_F(ImageCommands, ASignalEndsTheMakingOfImagesWithinAValidation) {
  Running program = start(
      "--device cpu --threads 1 train r.toml train.show_images=64 process.horizon=20000 "
      "sampler.steps=20000");
  // The line of the second update is written just before the validation, which would take minutes.
  ASSERT_TRUE(tessera::test::wait_until([&] {
    return tessera::test::file_text(folder_ / "run/metrics.jsonl").find("\"step\":2") !=
           std::string::npos;
  }));
  program.signal(SIGTERM);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(program.wait().status, 143);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(ImageCommands, DryRunSaysWhatItWouldCost) {
  const nlohmann::json report =
      nlohmann::json::parse(expect_done("--json --quiet train r.toml --dry-run"));
  EXPECT_GT(report["parameters"], 1000);
  EXPECT_EQ(report["images"], 20);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(ImageCommands, ValidationMeasuresADistanceWhereAsked) {
  expect_done(
      "--quiet train r.toml train.validate_samples=12 train.features=tiny.pt "
      "train.score=distance train.statistics=made.safetensors");
  EXPECT_THAT(tessera::test::file_text(folder_ / "run/metrics.jsonl"),
              AllOf(HasSubstr("valid_distance"), HasSubstr("FD-tiny")));
  EXPECT_TRUE(fs::exists(folder_ / "made.safetensors"));
}

TEST_F(ImageCommands, AValidationThatFailsLosesNoUpdates) {
  const std::string samples = " train.validate_samples=12 train.features=tiny.pt train.statistics=";
  expect_error("train r.toml" + samples + "/proc/s.safetensors", 1, "step 2 is kept");
  EXPECT_TRUE(fs::exists(folder_ / "run/checkpoints/step-00000002"));
  expect_done("--quiet train --resume run train.statistics=s.safetensors");
  expect_done("--quiet train r.toml train.out=undisturbed" + samples + "t.safetensors");
  EXPECT_EQ(weights("run"), weights("undisturbed"));
}

TEST_F(ImageCommands, ARunThatGoesOnLoadsNoCodeThatTheCommandDoesNotName) {
  const std::string samples = " train.validate_samples=12 train.features=tiny.pt";
  expect_done("--quiet train r.toml train.steps=1" + samples);
  const auto result = run("--device cpu --threads 1 --quiet train --resume run train.steps=2");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("which is code"), HasSubstr("without that distance"),
                    HasSubstr("train --resume run train.features=/"), HasSubstr("/tiny.pt`")));
  const auto distances = [&](const std::string& name) {
    const std::string lines = tessera::test::file_text(folder_ / name / "metrics.jsonl");
    size_t count = 0;
    for (size_t at = 0; (at = lines.find("\"valid_distance\"", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  EXPECT_EQ(distances("run"), 1u);
  expect_done("--quiet train --resume run train.steps=3 train.features=tiny.pt");
  EXPECT_EQ(distances("run"), 2u);

  expect_done("--quiet train r.toml train.out=chosen train.steps=1 train.score=distance" + samples);
  expect_error("train --resume chosen train.steps=2", 2, "which is code");
}

TEST_F(ImageCommands, AModelThatIsSampledWithoutTheBoundarySaysSo) {
  expect_done("--quiet train r.toml sampler.rescale_reverse=false");
  const std::string evaluate = "--json --quiet evaluate run --count 4 --features tiny.pt";
  EXPECT_EQ(nlohmann::json::parse(expect_done(evaluate))["r"], 0);
  EXPECT_EQ(nlohmann::json::parse(expect_done(evaluate + " --r 0.5 --precision bfloat16"))["r"],
            0.5);
}

TEST_F(ImageCommands, MistakesAreNamed) {
  expect_error("train r.toml process.horizon=2", 2, "sampler steps must be in [1, 2]");
  expect_error("train r.toml train.validate_samples=1 train.features=tiny.pt", 2, "at least 2");
  expect_error("train r.toml train.validate_samples=9 train.features=r.toml", 1, "r.toml");
  expect_error(
      "train r.toml train.validate_samples=9 train.features=tiny.pt train.statistics=nowhere/s", 1,
      "there is no folder 'nowhere'");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  expect_error("train r.toml model.stages=7", 2, "cannot be halved");
  expect_error("train r.toml model.coding=pixels", 2, "process.r = 0");
  expect_error("train r.toml data.tokens=100", 2, "unknown key 'data.tokens'");
  expect_error("train r.toml data.batch=100", 2, "lower data.batch");
  expect_error("train r.toml train.validate_samples=10", 2, "train.features");
  expect_error("train r.toml data.dir=nowhere", 1, "nowhere");
  expect_done("--quiet train r.toml");
  expect_error("sample run", 2, "--grid");
  expect_error("sample run --grid g.jpg", 2, "ends in .png");
  expect_error("sample run --grid nowhere/g.png", 2, "there is no folder 'nowhere'");
  expect_error("sample run --grid g.png --count 5000 --columns 1", 2,
               "the grid would have 68 x 330002 pixels");
  fs::create_directory(folder_ / "used");
  write("used/a.png", "");
  expect_error("sample run --count 1 --out used", 1, "is not empty");
  expect_error("sample run --grid g.png --class cow", 2, "no class 'cow'");
  expect_error("sample nowhere --grid g.png", 1, "nowhere");
  expect_error("evaluate run", 2, "scripts/make-extractor");
  expect_error("evaluate run --features tiny.pt --beam 3", 2, "--beam is not for models of images");
  expect_error("evaluate run --features missing.pt", 1, "missing.pt");
  expect_error("evaluate run --features tiny.pt --stats nowhere/s", 2,
               "there is no folder 'nowhere'");
  expect_error("generate run", 1, "kind 'image'");
  expect_error("train --resume run model.width=16", 2, "model.width");
  expect_error("train --resume run train.score=distance", 2, "train.score");
}

TEST_F(ImageCommands, FewerImagesThanFeaturesAreWarnedAbout) {
  expect_done("--quiet train r.toml");
  const auto result = run("--device cpu evaluate run --count 4 --features tiny.pt --data set");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("singular"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("FD-tiny"), Not(HasSubstr("FID"))));
}

// An autoencoder, its codes, a model of them: each made from what was made before.
TEST_F(ImageCommands, TrainAnAutoencoderAndAModelOfItsCodes) {
  write("vq.toml", R"([data]
kind = "images"
dir = "set"
batch = 4
[model]
kind = "autoencoder"
width = 8
blocks = 1
codes = 8
code_width = 4
[train]
out = "vq"
steps = 4
save_every = 2
validate_every = 2
)");
  expect_done("--quiet train vq.toml");
  expect_done("train --resume vq train.steps=6");
  expect_done("report vq --out vq.html");
  const nlohmann::json alone = nlohmann::json::parse(
      expect_done("--json evaluate vq --count 4 --features tiny.pt --reconstructions r.png"));
  EXPECT_EQ(alone.at("kind"), "autoencoder");
  EXPECT_EQ(alone.at("distance").at("value"), alone.at("floor").at("distance"));
  EXPECT_TRUE(fs::exists(folder_ / "r.png"));
  EXPECT_THAT(expect_done("inspect vq"), HasSubstr("as 8 x 8 codes of 8"));
  expect_error("evaluate vq --steps 3", 2, "--steps is not for autoencoders");
  expect_error("sample vq --count 1 --grid g.png", 1, "of kind 'autoencoder'");
  expect_error("generate vq", 1, "of kind 'autoencoder'");

  expect_error("prepare --images codes --from set --out codes", 2, "--with RUN");
  expect_error("prepare --images cifar10 --with vq --from cifar --out x", 2, "--images codes");
  expect_error("prepare --images codes --with vq --from set --out x --valid 2", 2, "--valid");
  expect_error("prepare --with vq --from set --out x", 2, "--images");
  const nlohmann::json set = nlohmann::json::parse(
      expect_done("--json prepare --images codes --with vq --from set --out codes"));
  EXPECT_EQ(set.at("codes").at("symbols"), 8);
  EXPECT_EQ(set.at("width"), 8);
  EXPECT_TRUE(set.at("files").contains("autoencoder.safetensors"));
  EXPECT_THAT(expect_done("inspect codes"), HasSubstr("8 x 8, codes of 8"));
  expect_error("evaluate vq --data codes --limit 3", 2, "--limit");

  write("of-codes.toml", R"([model]
coding = "symbols"
self_conditioning = 0.0
)");
  expect_error(
      "train r.toml data.dir=codes train.out=x model.coding=values "
      "model.self_conditioning=0",
      2, "codes of an autoencoder have none");
  expect_done("--quiet train r.toml of-codes.toml data.dir=codes train.out=made");
  fs::rename(folder_ / "vq", folder_ / "elsewhere");
  expect_done("sample made --count 2 --out pngs --show-steps film.html");
  const auto first = tessera::image::read_png(folder_ / "pngs/000000.png");
  EXPECT_EQ(first.sizes(), (std::vector<int64_t>{3, 32, 32}));
  const nlohmann::json found =
      nlohmann::json::parse(expect_done("--json evaluate made --count 4 --features tiny.pt"));
  EXPECT_GT(found.at("floor").at("distance").get<double>(), 0);
  EXPECT_THAT(expect_done("evaluate made --count 4 --features tiny.pt"), HasSubstr("floor"));
  expect_error("evaluate made --count 4 --features tiny.pt --reconstructions r.png", 2,
               "--reconstructions");
  expect_error("evaluate run-that-is-not-there", 1, "no folder");
}

}  // namespace
