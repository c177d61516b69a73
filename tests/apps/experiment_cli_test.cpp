#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using tessera::test::file_text;
using tessera::test::wait_until;
using testing::AllOf;
using testing::HasSubstr;

// The CPU recipe, made as small as possible: a run takes half a second.
const std::string kTable = R"(title = "Dates"
base = "plain"
columns = ["bleu", "exact"]
[model.plain]
recipe = ")" + std::string(TESSERA_SOURCE_DIR) +
                           R"(/recipes/tiny.toml"
overrides = [SMALL, "process.r=0"]
[model.border]
recipe = ")" + std::string(TESSERA_SOURCE_DIR) +
                           R"(/recipes/tiny.toml"
overrides = [SMALL]
[[cell]]
row = "plain"
model = "plain"
evaluate = ["--limit", 20, "--steps", 2]
[[cell]]
row = "ours"
model = "border"
evaluate = ["--limit", 20, "--steps", 2]
)";

class ExperimentCommand : public tessera::test::ProgramTest {
 protected:
  ExperimentCommand() : ProgramTest(tessera::test::quick_place()) { write_table(12); }

  void write_table(int steps) const {
    const std::string small =
        "\"model.width=16\", \"model.layers=1\", \"model.latent=8\", \"model.feedforward=16\", "
        "\"model.heads=2\", \"data.pairs=200\", \"data.tokens=256\", \"train.log_every=2\", "
        "\"train.save_every=500\", \"train.validate_every=0\", \"train.validate_sentences=2\", "
        "\"train.warmup=5\", \"train.steps=" +
        std::to_string(steps) + "\"";
    std::string text = kTable;
    for (size_t at; (at = text.find("SMALL")) != std::string::npos;) text.replace(at, 5, small);
    write("t.toml", text);
  }
  static std::string arguments(const std::string& more) {
    return "--device cpu --threads 1 experiment t.toml --out made " + more;
  }
  Result experiment(const std::string& more = "") const { return run(arguments(more)); }

  bool any_run_has(const std::string& file) const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_ / "made/runs", ignored))
      if (fs::exists(entry.path() / file)) return true;
    return false;
  }
};

TEST_F(ExperimentCommand, TrainsMeasuresAndWritesTheTable) {
  const auto dry = experiment("--dry-run --json");
  ASSERT_EQ(dry.status, 0) << dry.err;
  const auto cost = nlohmann::json::parse(dry.out);
  EXPECT_EQ(cost["evaluations"], 2);
  ASSERT_EQ(cost["trainings"].size(), 2u);
  EXPECT_GT(cost["trainings"][0]["updates_per_second"], 0);
  EXPECT_FALSE(fs::exists(folder_ / "made")) << "a dry run leaves no trace";

  const auto result = experiment("--jobs 2");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("# Dates"), HasSubstr("| plain |"), HasSubstr("tok:13a"),
                    HasSubstr("against the row “plain”"),
                    HasSubstr("`tessera --device cpu --threads 1 evaluate made/runs/")));
  EXPECT_EQ(file_text(folder_ / "made/t.md"), result.out);
  EXPECT_THAT(file_text(folder_ / "made/t.html"), HasSubstr("Loss in training"));
  const auto table = nlohmann::json::parse(file_text(folder_ / "made/t.json"));
  EXPECT_EQ(table["cells"][1]["runs"][0]["evaluation"]["sentences"], 20);
  EXPECT_EQ(table["cells"][1]["scores"]["bleu"]["against_base"]["lines"], 20);

  // The command given with a number reproduces it.
  const std::string command = table["cells"][1]["runs"][0]["command"];
  const auto again = run(command.substr(command.find(' ')));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["metrics"],
            table["cells"][1]["runs"][0]["evaluation"]["metrics"]);

  const auto repeated = experiment("--json");
  EXPECT_EQ(repeated.status, 0) << repeated.err;
  EXPECT_THAT(repeated.err, HasSubstr("4 jobs: 4 done, 0 to run"));
  EXPECT_EQ(nlohmann::json::parse(repeated.out)["cells"], table["cells"]);
  EXPECT_THAT(experiment("--dry-run").out, HasSubstr("done      evaluate ours, seed 1"));
}

TEST_F(ExperimentCommand, FindsTheBestSettingsForTheirCost) {
  std::string text = file_text(folder_ / "t.toml");
  text = text.substr(0, text.find("[[cell]]")) +
         "[front]\ncost = { key = 'passes', title = 'decoder passes', decimals = 0 }\n"
         "score = 'bleu'\nbudgets = [1, 4]\n";
  for (const char* model : {"plain", "border"})
    text += "[[cell]]\nrow = '" + std::string(model) + "'\nmodel = '" + model +
            "'\nevaluate = ['--split', 'valid', '--limit', 9]\n"
            "sweep = { '--candidates' = ['1x1', '2x2'], '--steps' = [1, 2] }\nat_most = 4\n";
  text.replace(text.find("base = \"plain\""), 14, "base = \"plain, candidates = 1x1\"");
  write("t.toml", text);
  const auto result = experiment("--jobs 2");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("| decoder passes | plain | border |"),
                                HasSubstr("(candidates = 1x1, steps = 1: 1) |")));
  EXPECT_THAT(file_text(folder_ / "made/t.html"), HasSubstr("BLEU over decoder passes"));
  const auto table = nlohmann::json::parse(file_text(folder_ / "made/t.json"));
  const auto& points = table["front"]["series"][1]["points"];
  ASSERT_EQ(points.size(), 3u);
  // The measured cost, not what the options say: candidates x network calls.
  EXPECT_EQ(points[0]["cost"], 1);
  EXPECT_EQ(points[1]["cost"], 2);
  EXPECT_EQ(points[2]["cost"], 4);
  EXPECT_EQ(points[2]["settings"]["candidates"], "2x2");
}

TEST_F(ExperimentCommand, GoesOnAfterASignal) {
  write_table(2000);  // long enough to start a second one meanwhile
  Running program = start(arguments("--only ours"));
  ASSERT_TRUE(wait_until([&] { return any_run_has("metrics.jsonl"); }));
  const auto second = experiment();
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("another experiment (process "));
  program.signal(SIGTERM);
  const auto stopped = program.wait();
  EXPECT_EQ(stopped.status, 143) << stopped.err;
  EXPECT_TRUE(any_run_has("last/training.safetensors")) << "the training has saved itself";
  EXPECT_THAT(file_text(folder_ / "made/t.md"), HasSubstr("| ours | not run |"));

  const auto result = experiment("--only ours");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("train border, seed 1: going on"));
  EXPECT_THAT(result.out, HasSubstr("| plain | not run |"));
}

TEST_F(ExperimentCommand, GoesOnAfterItWasKilled) {
  write_table(400);
  {
    Running program = start(arguments("--only ours"));
    ASSERT_TRUE(wait_until([&] { return any_run_has("metrics.jsonl"); }));
  }  // killed
  const auto result = experiment("--only ours");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("train border, seed 1: going on"));
}

TEST_F(ExperimentCommand, SaysWhatFailed) {
  std::string text = file_text(folder_ / "t.toml");
  text.replace(text.rfind("\"--steps\", 2"), 12, "\"--split\", \"dev\"");
  write("t.toml", text);
  const auto result = experiment();
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("1 of 4 jobs failed"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("| ours | failed |"), HasSubstr("no split 'dev'")));
  EXPECT_THAT(result.out, testing::ContainsRegex("\\| plain \\| [0-9.]+ \\|"));
}

TEST_F(ExperimentCommand, RefusesABadTableBeforeAnythingIsRun) {
  write("bad.toml", "[model.m]\nrecipe = 'none.toml'\n[[cell]]\nrow = 'a'\nmodel = 'n'\n");
  const auto bad = run("experiment bad.toml --out made");
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("bad.toml:1: there is no recipe 'none.toml'"),
                             HasSubstr("bad.toml:3: there is no model 'n'")));
  std::string text = file_text(folder_ / "t.toml");
  text.replace(text.rfind("\"--steps\""), 9, "\"--stesp\"");
  write("option.toml", text);
  const auto option = run("experiment option.toml --out made");
  EXPECT_EQ(option.status, 2);
  EXPECT_THAT(option.err, AllOf(HasSubstr("the cell 'ours' cannot be evaluated"),
                                HasSubstr("--stesp"), HasSubstr("evaluate --help")));
  EXPECT_EQ(experiment("--only nothing").status, 2);
  EXPECT_EQ(experiment("--data raw").status, 2);
  EXPECT_EQ(experiment("--data raw=x").status, 2);
  EXPECT_EQ(run("experiment nowhere.toml --out made").status, 2);
  EXPECT_EQ(run("experiment t.toml").status, 2);
  EXPECT_FALSE(fs::exists(folder_ / "made"));
}

}  // namespace
