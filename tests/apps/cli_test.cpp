#include "image/png.h"
#include "support/program.h"

#include <ATen/ATen.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using tessera::test::file_text;
using testing::AllOf;
using testing::HasSubstr;

class Cli : public tessera::test::ProgramTest {};

TEST_F(Cli, PrintsItsVersions) {
  const auto result = run("--version");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("tessera 0."));
  EXPECT_THAT(result.out, HasSubstr("LibTorch"));
  EXPECT_THAT(result.out, HasSubstr("CUDA"));
  EXPECT_THAT(result.out, HasSubstr("CPU kernels"));
}

TEST_F(Cli, ExplainsItself) {
  const auto result = run("--help");
  EXPECT_EQ(result.status, 0);
  for (const char* word :
       {"flow", "bench", "--device", "--threads", "--seed", "--quiet", "--json", "--version"})
    EXPECT_THAT(result.out, HasSubstr(word));
  EXPECT_EQ(run("flow --help").status, 0);
  EXPECT_EQ(run("bench boundary --help").status, 0);
}

TEST_F(Cli, KnowsHelpAndVersionAsCommands) {
  EXPECT_EQ(run("version").out, run("--version").out);
  EXPECT_EQ(run("-V").out, run("--version").out);
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help train").out, run("train --help").out);
  EXPECT_EQ(run("help bench boundary").out, run("bench boundary --help").out);
  EXPECT_THAT(run("--help").out, AllOf(HasSubstr("-V,--version"), HasSubstr("help ")));
  expect_failure("help trian", 2, HasSubstr("'trian' (did you mean 'train'?)"));
  expect_failure("help train more", 2, HasSubstr("'more'"));
}

TEST_F(Cli, CompletesEveryCommandInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto result = run(std::string("completion ") + shell);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    for (const char* word : {"score-model", "boundary", "merge-repeats", "as-printed",
                             "process.trajectory", "vp-cosine", "flow.cells"})
      EXPECT_THAT(result.out, HasSubstr(word)) << shell;
  }
  expect_failure("completion zhs", 2, HasSubstr("unknown shell 'zhs' (did you mean 'zsh'?)"));
  expect_failure("completion", 2, HasSubstr("shell"));
}

TEST_F(Cli, PrintsItsManualPage) {
  const auto result = run("man");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  for (const char* text :
       {".TH TESSERA 1", ".SS tessera bench boundary", "\\fB\\-\\-show\\-steps\\fP",
        "(default: 8000)", "Fr\\[u00E9]chet", ".SH EXIT STATUS"})
    EXPECT_THAT(result.out, HasSubstr(text));
  for (const char c : result.out) EXPECT_GT(c, 0) << "not ASCII";
  EXPECT_EQ(result.out.find('`', 100), std::string::npos);
}

// A name that leads nowhere is looked for among the recipes beside the program's folder.
TEST_F(Cli, FindsRecipesThatCameWithIt) {
  fs::create_directories(folder_ / "bin");
  fs::create_directories(folder_ / "share/tessera/recipes/methods");
  fs::copy_file(TESSERA_PROGRAM, folder_ / "bin/tessera");
  write("share/tessera/recipes/r.toml", "[data]\ntask = \"dates\"\n[train]\nsteps = 123\n");
  write("share/tessera/recipes/methods/m.toml", "[process]\nr = 0.25\n");
  const auto dump = [&](const std::string& arguments) {
    const std::string out = (folder_ / "dump").string();
    const std::string line = "cd " + folder_.path().string() + " && bin/tessera train " +
                             arguments + " train.out=x --dump-config >" + out + " 2>&1";
    return std::system(line.c_str()) == 0 ? file_text(out) : "failed: " + file_text(out);
  };
  const std::string found = "recipe: " + (folder_ / "share/tessera/recipes/r.toml").string();
  for (const char* name : {"recipes/r.toml", "r.toml", "r"})
    EXPECT_THAT(dump(name), AllOf(HasSubstr(found), HasSubstr("steps = 123"))) << name;
  EXPECT_THAT(dump("r methods/m"), HasSubstr("r = 0.25"));
  for (const char* name : {"nothing", "../recipes/r.toml", "recipes/../recipes/r.toml"})
    EXPECT_THAT(dump(name), HasSubstr("failed: ")) << name;
  write("r.toml", "[data]\ntask = \"dates\"\n[train]\nsteps = 77\n");
  EXPECT_THAT(dump("r.toml"), HasSubstr("steps = 77"));  // what is here comes first
}

// `tessera ... | head` is not an error.
TEST_F(Cli, EndsQuietlyWhereNoOneReadsItsOutput) {
  run("--version >/dev/null; { " TESSERA_PROGRAM
      " options 2>told; echo $? >status; } | true; true");
  EXPECT_EQ(file_text(folder_ / "told"), "");
  EXPECT_EQ(file_text(folder_ / "status"), "141\n");
}

TEST_F(Cli, EndsWithTwoForWrongUsage) {
  for (const char* arguments :
       {"", "flwo", "--frobnicate", "--device gpu bench boundary", "--threads -1 bench boundary",
        "bench", "bench boundary --shape 3,4", "bench boundary --repeats 0",
        "flow --out x nonsense=1"}) {
    const auto result = run(arguments);
    EXPECT_EQ(result.status, 2) << "tessera " << arguments << '\n' << result.err;
    EXPECT_EQ(result.out, "") << "tessera " << arguments;
    EXPECT_NE(result.err, "") << "tessera " << arguments;
  }
}

TEST_F(Cli, SaysWhatIsWrongInWords) {
  EXPECT_THAT(run("flwo").err, HasSubstr("there is no command 'flwo' (did you mean 'flow'?)"));
  EXPECT_THAT(run("bench boundary --repeats 0").err,
              HasSubstr("--repeats: must be a whole number of at least 1, got 0"));
  EXPECT_THAT(run("--threads 100000 doctor").err, HasSubstr("from 0 to 1024"));
  EXPECT_THAT(run("--seed -1 doctor").err, HasSubstr("--seed: must be"));
}

TEST_F(Cli, ShowsWhatWouldSteerTheTerminal) {
  write("r.toml", "title = '\xc2\x9b\x1b]0;x'\n[\x1b");
  for (const char* arguments : {"$(printf 'f\\033[31mlow')", "inspect $(printf 'no\\033[31mne')",
                                "train r.toml train.out=x", "train r.toml $(printf 'a\\033=1')"}) {
    const auto result = run(arguments);
    EXPECT_NE(result.status, 0) << arguments;
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << arguments;
  }
  EXPECT_THAT(run("inspect $(printf 'no\\033[31mne')").err, HasSubstr("no\\x1b[31mne"));
}

TEST_F(Cli, EndsWithOneWhenItFails) {
  const auto result = run("flow --out /proc/nowhere");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("/proc/nowhere"));
}

TEST_F(Cli, FailsWhenItsOutputCannotBeWritten) {
  EXPECT_EQ(run("--version", "/dev/full").status, 1);
}

TEST_F(Cli, PrintsItsOptionsAsTheDocumentsHaveThem) {
  for (const char* command : {"options --markdown", "options --images --markdown",
                              "options --requests", "options --requests --images"}) {
    const auto result = run(command);
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(file_text(fs::path(TESSERA_SOURCE_DIR) / "docs/options.md"), HasSubstr(result.out))
        << "renew it with scripts/renew-docs";
  }
}

TEST_F(Cli, DrawsTheFlowPage) {
  const auto result =
      run("--json --quiet flow --out page flow.train.updates=8 flow.train.runs=2 flow.points=20 "
          "flow.sampler.samples=10");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["page"], "page/index.html");
  EXPECT_EQ(report["curves"].size(), 2u);
  EXPECT_GT(fs::file_size(folder_ / "page/index.html"), 10000u);
}

TEST_F(Cli, ShowsOnTheFlowPageWhatModelsMake) {
  write("lines.jsonl", R"({"source":"eins","text":"one","candidates":[]})"
                       "\n");
  tessera::image::write_png(folder_ / "clothes.png", at::full({1, 4, 4}, 128, at::kByte));
  const std::string quick =
      " flow.train.updates=8 flow.train.runs=2 flow.points=20 flow.sampler.samples=10";
  const auto result =
      run("flow --out page --translations lines.jsonl --picture clothes.png" + quick);
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string page = file_text(folder_ / "page/index.html");
  EXPECT_THAT(page, HasSubstr("<td>eins</td><td>one</td>"));
  EXPECT_THAT(page, HasSubstr("data:image/png;base64,"));
  EXPECT_THAT(page, HasSubstr("--translations lines.jsonl --picture clothes.png"));
  EXPECT_EQ(run("flow --out page --picture nowhere.png").status, 1);
}

TEST_F(Cli, DumpsAConfigurationThatItReadsBack) {
  const auto dumped = run("flow --dump-config flow.codes=9 flow.trajectory=vp-cosine");
  ASSERT_EQ(dumped.status, 0) << dumped.err;
  std::ofstream(folder_ / "again.toml") << dumped.out;
  EXPECT_EQ(run("flow --dump-config again.toml").out, dumped.out);
}

TEST_F(Cli, ReportsAllProblemsOfAConfigurationWithTheirLines) {
  std::ofstream(folder_ / "bad.toml") << "[flow]\ncodse = 7\nseed = \"x\"\n";
  const auto result = run("flow --out page bad.toml flow.codes=1000");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err,
              HasSubstr("bad.toml:2: unknown key 'flow.codse' (did you mean 'flow.codes'?)"));
  EXPECT_THAT(result.err, HasSubstr("bad.toml:3: 'flow.seed' must be"));
  EXPECT_THAT(result.err, HasSubstr("'flow.codes' must be"));
  EXPECT_FALSE(fs::exists(folder_ / "page"));
}

TEST_F(Cli, BenchmarksTheBoundaryWithinItsMemory) {
  const auto result =
      run("--json --device cpu bench boundary --shape 40,50,16 --shape 1500,20000,32 --repeats 1");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  ASSERT_EQ(report["results"].size(), 3u);  // two tables, and bits
  for (const auto& comparison : report["results"]) {
    const auto& naive = comparison["rows"][0];
    const auto& ours = comparison["rows"][1];
    EXPECT_GT(comparison["speedup"], 0.0);
    EXPECT_LE(ours["peak_extra_bytes"], 16 << 20) << comparison["what"];
    EXPECT_LT(ours["error_steps_p999"], 1.0) << comparison["what"];
    EXPECT_GT(naive["peak_extra_bytes"], 0) << comparison["what"];
  }
}

TEST_F(Cli, BenchmarksTheMeanWithinItsMemory) {
  const auto result =
      run("--json --device cpu --threads 2 bench mean --shape 40,50,16 --shape 1500,20000,32 "
          "--repeats 1");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  ASSERT_EQ(report["results"].size(), 2u);
  for (const auto& comparison : report["results"]) {
    const auto& ours = comparison["rows"][1];
    EXPECT_LE(ours["peak_extra_bytes"], 16 << 20) << comparison["what"];
    EXPECT_LT(ours["relative_error"], 1e-5) << comparison["what"];
  }
  EXPECT_GT(report["results"][1]["rows"][0]["peak_extra_bytes"], 100 << 20);
}

}  // namespace
