#include "files/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "files/files.h"
#include "support/temporary_folder.h"
#include "tessera/base/error.h"

namespace tessera {

enum class Path { straight, curved };

template <>
struct EnumNames<Path> {
  static constexpr std::string_view what = "path";
  static constexpr std::array<std::pair<Path, std::string_view>, 2> values = {
      {{Path::straight, "straight"}, {Path::curved, "curved"}}};
};

namespace {

struct ProcessOptions {
  double r = 0.5;
  Path trajectory = Path::straight;
  std::optional<double> temperature;
};

struct Options {
  std::string name = "run";
  uint64_t seed = 7;
  bool fast = false;
  int64_t steps = 100;
  std::filesystem::path data = "data/train";
  std::vector<int64_t> widths = {64, 128};
  std::vector<double> betas = {0.9, 0.999};
  std::vector<std::string> languages = {"de", "en"};
  ProcessOptions process;

  bool operator==(const Options& other) const {
    return name == other.name && seed == other.seed && fast == other.fast && steps == other.steps &&
           data == other.data && widths == other.widths && betas == other.betas &&
           languages == other.languages && process.r == other.process.r &&
           process.trajectory == other.process.trajectory &&
           process.temperature == other.process.temperature;
  }
};

void declare(config::Schema& schema, const std::string& prefix, ProcessOptions& options) {
  schema.option(prefix + "r", options.r, "confidence factor").range(0, 1);
  schema.option(prefix + "trajectory", options.trajectory, "the way from data to noise");
  schema.option(prefix + "temperature", options.temperature, "of the softmax").above(0);
}

void declare(config::Schema& schema, Options& options) {
  schema.option("name", options.name, "of the run");
  schema.option("seed", options.seed, "of all random numbers");
  schema.option("train.fast", options.fast, "cut corners");
  schema.option("train.steps", options.steps, "how many")
      .at_least(1)
      .check([](int64_t steps) { return steps % 10 == 0; }, "a multiple of 10");
  schema.option("train.data", options.data, "where the data is");
  schema.option("train.widths", options.widths, "of the layers").at_least(1);
  schema.option("train.betas", options.betas, "of the optimiser").range(0, 1);
  schema.option("train.languages", options.languages, "from which into which");
  declare(schema, "process.", options.process);
}

// A schema with its options.
struct Configuration {
  Options options;
  config::Schema schema;

  Configuration() { declare(schema, options); }

  std::vector<std::string> problems() {
    try {
      schema.finish();
    } catch (const UsageError& error) {
      std::vector<std::string> lines;
      std::istringstream text(error.what());
      for (std::string line; std::getline(text, line);) lines.push_back(line);
      return lines;
    }
    return {};
  }
};

using Lines = std::vector<std::string>;

Lines problems_of(std::string_view toml) {
  Configuration config;
  config.schema.read_text(toml, "x.toml");
  Lines found = config.problems();
  EXPECT_TRUE(found.empty() || config.options == Options()) << "fields were changed";
  return found;
}

Lines problems_of_override(std::string_view assignment) {
  Configuration config;
  config.schema.apply_override(assignment);
  Lines found = config.problems();
  EXPECT_TRUE(found.empty() || config.options == Options()) << "fields were changed";
  return found;
}

TEST(Config, ReadsEveryTypeFromToml) {
  Configuration config;
  config.schema.read_text(R"(
name = "first"
seed = 42
process = { r = 1, trajectory = "curved", temperature = 0.7 }
[train]
fast = true
steps = 1_000
data = "/a/b"
widths = [1, 2, 3]
betas = [0, 0.25]
languages = []
)",
                          "x.toml");
  EXPECT_EQ(config.problems(), Lines{});
  const Options& options = config.options;
  EXPECT_EQ(options.name, "first");
  EXPECT_EQ(options.seed, 42u);
  EXPECT_TRUE(options.fast);
  EXPECT_EQ(options.steps, 1000);
  EXPECT_EQ(options.data, "/a/b");
  EXPECT_EQ(options.widths, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(options.betas, (std::vector<double>{0, 0.25}));
  EXPECT_EQ(options.languages, std::vector<std::string>{});
  EXPECT_EQ(options.process.r, 1);
  EXPECT_EQ(options.process.trajectory, Path::curved);
  EXPECT_EQ(options.process.temperature, 0.7);
}

TEST(Config, WhatIsNotGivenKeepsItsDefault) {
  Configuration config;
  config.schema.read_text("", "x.toml");
  config.schema.apply_override("seed=8");
  EXPECT_EQ(config.problems(), Lines{});
  Options expected;
  expected.seed = 8;
  EXPECT_EQ(config.options, expected);
}

TEST(Config, ListsAllProblemsAtOnceInTheOrderOfTheFile) {
  Configuration config;
  config.schema.read_text(R"(
sed = 3
[train]
steps = 2.5
[process]
trajectroy = "curved"
r = "abc"
)",
                          "recipes/x.toml");
  config.schema.apply_override("foo=3");
  config.schema.apply_override("process.r=2");
  EXPECT_EQ(
      config.problems(),
      (Lines{
          "recipes/x.toml:2: unknown key 'sed' (did you mean 'seed'?)",
          "recipes/x.toml:4: 'train.steps' must be an integer of at least 1, got 2.5",
          "recipes/x.toml:6: unknown key 'process.trajectroy' (did you mean 'process.trajectory'?)",
          "recipes/x.toml:7: 'process.r' must be a number in [0, 1], got \"abc\"",
          "override 'foo=3': unknown key 'foo'",
          "override 'process.r=2': 'process.r' must be a number in [0, 1], got 2",
      }));
  EXPECT_EQ(config.options, Options());
}

TEST(Config, OneProblemLeavesEveryFieldAsItWas) {
  EXPECT_EQ(problems_of("name = 'changed'\nseed = -1"),
            Lines{"x.toml:2: 'seed' must be a non-negative integer, got -1"});
}

TEST(Config, RefusesWrongTypes) {
  EXPECT_EQ(problems_of("name = 3"), Lines{"x.toml:1: 'name' must be a string, got 3"});
  EXPECT_EQ(problems_of("train.fast = 1"),
            Lines{"x.toml:1: 'train.fast' must be true or false, got 1"});
  EXPECT_EQ(problems_of("train.steps = true"),
            Lines{"x.toml:1: 'train.steps' must be an integer of at least 1, got true"});
  EXPECT_EQ(problems_of("train.data = [1]"),
            Lines{"x.toml:1: 'train.data' must be a path, got [1]"});
  EXPECT_EQ(problems_of("train.widths = 64"),
            Lines{"x.toml:1: 'train.widths' must be a list of integers, each of at least 1, got "
                  "64"});
  EXPECT_EQ(problems_of("train.widths = [64, 1.5]").size(), 1u);
  EXPECT_EQ(problems_of("train.languages = ['de', 3]").size(), 1u);
  EXPECT_EQ(problems_of("process.r = nan").size(), 1u);
  EXPECT_EQ(problems_of("process.r = 1979-05-27"),
            Lines{"x.toml:1: 'process.r' must be a number in [0, 1], got 1979-05-27"});
  EXPECT_EQ(problems_of("process.temperature = 'warm'"),
            Lines{"x.toml:1: 'process.temperature' must be a number above 0 or \"none\", got "
                  "\"warm\""});
}

TEST(Config, RefusesValuesOutOfBounds) {
  EXPECT_EQ(problems_of("train.steps = 0").size(), 1u);
  EXPECT_EQ(problems_of("process.r = 1.0000001").size(), 1u);
  EXPECT_EQ(problems_of("process.r = 0.0").size(), 0u);
  EXPECT_EQ(problems_of("process.temperature = 0").size(), 1u);
  EXPECT_EQ(problems_of("train.widths = [8, 0]").size(), 1u);
  EXPECT_EQ(problems_of("train.betas = [0.9, 1.1]"),
            Lines{"x.toml:1: 'train.betas' must be a list of numbers, each in [0, 1], got [0.9, "
                  "1.1]"});
}

TEST(Config, RunsCustomChecks) {
  EXPECT_EQ(problems_of("train.steps = 15"),
            Lines{"x.toml:1: 'train.steps' must be a multiple of 10, got 15"});
}

TEST(Config, UnknownChoiceNamesTheChoicesAndTheNearest) {
  EXPECT_EQ(problems_of("process.trajectory = 'curve'"),
            Lines{"x.toml:1: 'process.trajectory' must be one of straight, curved, got \"curve\" "
                  "(did you mean 'curved'?)"});
}

TEST(Config, SuggestsTheRightNameInAnotherTable) {
  EXPECT_EQ(problems_of("trajectory = 'curved'"),
            Lines{"x.toml:1: unknown key 'trajectory' (did you mean 'process.trajectory'?)"});
}

TEST(Config, UnknownTableIsOneProblem) {
  EXPECT_EQ(problems_of("[proces]\nr = 1\ntrajectory = 'curved'"),
            Lines{"x.toml:1: unknown table 'proces' (did you mean 'process'?)"});
  EXPECT_EQ(problems_of("[zzz]"), Lines{"x.toml:1: unknown table 'zzz'"});
}

TEST(Config, TablesAndValuesAreNotExchangeable) {
  EXPECT_EQ(problems_of("process = 3"), Lines{"x.toml:1: 'process' is a table, not an option"});
  EXPECT_EQ(problems_of("[process.r]\nx = 1"),
            Lines{"x.toml:1: 'process.r' must be a number in [0, 1], got a table"});
  EXPECT_EQ(problems_of("[[process]]\nr = 1").size(), 1u);
  EXPECT_EQ(problems_of("\"process.r\" = 1"),
            Lines{"x.toml:1: unknown key '\"process.r\"' (did you mean 'process.r'?)"});
}

TEST(Config, SyntaxErrorsComeWithTheirLine) {
  const Lines found = problems_of("name = 'a'\nseed = = 3\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("x.toml:2: ")) << found[0];
}

// toml++ asserts that a key is valid before it checks it; files/toml.h turns that off.
TEST(Config, TablesWhoseNameIsNoKeyAreAProblem) {
  for (const char* text : {"[.a]\n", "[\x01]\n", "[[.a]]\n", "[a..b]\n", "[="}) {
    const Lines found = problems_of(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_TRUE(found[0].starts_with("x.toml:1: ")) << found[0];
  }
}

TEST(Config, SyntaxErrorDoesNotHideProblemsOfOverrides) {
  Configuration config;
  config.schema.read_text("name = ", "x.toml");
  config.schema.apply_override("foo=3");
  EXPECT_EQ(config.problems().size(), 2u);
}

TEST(Config, MissingFileIsNamed) {
  Configuration config;
  config.schema.read_file("/nowhere/x.toml");
  EXPECT_EQ(config.problems(), Lines{"cannot read '/nowhere/x.toml': No such file or directory"});
}

TEST(Config, ProblemsInAFileCarryItsPath) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "x.toml", "\n\nsteps = 3");
  Configuration config;
  config.schema.read_file(folder / "x.toml");
  EXPECT_EQ(config.problems(), Lines{(folder / "x.toml").string() +
                                     ":3: unknown key 'steps' (did you mean 'train.steps'?)"});
}

TEST(Config, AFileWinsOverTheOneItIncludes) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "sub/below");
  write_file_atomically(folder / "sub/base.toml", "seed = 1\nname = 'base'\n[train]\nsteps = 20\n");
  write_file_atomically(folder / "sub/below/middle.toml", "include = '../base.toml'\nseed = 2\n");
  write_file_atomically(folder / "top.toml",
                        "include = 'sub/below/middle.toml'\n[train]\nsteps = 30\n");
  Configuration config;
  config.schema.read_file(folder / "top.toml");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.name, "base");
  EXPECT_EQ(config.options.seed, 2u);
  EXPECT_EQ(config.options.steps, 30);
}

TEST(Config, ProblemsOfAnIncludedFileCarryItsPath) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "base.toml", "\nsteps = 3\n");
  write_file_atomically(folder / "x.toml", "include = 'base.toml'\nsed = 3\n");
  Configuration config;
  config.schema.read_file(folder / "x.toml");
  EXPECT_EQ(config.problems(),
            (Lines{(folder / "base.toml").string() +
                       ":2: unknown key 'steps' (did you mean 'train.steps'?)",
                   (folder / "x.toml").string() + ":2: unknown key 'sed' (did you mean 'seed'?)"}));
}

TEST(Config, AnIncludedFileThatCannotBeReadIsNamedWithTheLine) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "x.toml", "# comment\ninclude = 'none.toml'\n");
  Configuration config;
  config.schema.read_file(folder / "x.toml");
  EXPECT_EQ(config.problems(),
            Lines{(folder / "x.toml").string() + ":2: cannot read '" +
                  (folder / "none.toml").string() + "': No such file or directory"});
  EXPECT_EQ(problems_of("include = 3"),
            Lines{"x.toml:1: 'include' must be the name of a file, or a list of names"});
  EXPECT_EQ(problems_of("include = ['/nowhere.toml',\n3]"),
            (Lines{"x.toml:1: cannot read '/nowhere.toml': No such file or directory",
                   "x.toml:2: 'include' must be the name of a file, or a list of names"}));
}

TEST(Config, FilesThatIncludeEachOtherAreAProblem) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a.toml", "include = 'b.toml'\n");
  write_file_atomically(folder / "b.toml", "include = 'a.toml'\n");
  Configuration config;
  config.schema.read_file(folder / "a.toml");
  const Lines found = config.problems();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], (folder / "b.toml").string() + ":1: '" + (folder / "a.toml").string() +
                          "' includes itself");
}

TEST(Config, FilesIncludeOthersToABoundedDepth) {
  const test::TemporaryFolder folder;
  for (int k = 0; k < 12; ++k)
    write_file_atomically(folder / (std::to_string(k) + ".toml"),
                          "include = '" + std::to_string(k + 1) + ".toml'\n");
  Configuration config;
  config.schema.read_file(folder / "0.toml");
  const Lines found = config.problems();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].ends_with("8.toml:1: files include each other too deeply")) << found[0];
}

TEST(Config, AListOfFilesIsIncludedFromLeftToRight) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a.toml", "seed = 1\nname = 'a'\n[train]\nsteps = 20\n");
  write_file_atomically(folder / "b.toml", "seed = 2\nname = 'b'\n");
  write_file_atomically(folder / "x.toml", "include = ['a.toml', 'b.toml']\nname = 'x'\n");
  Configuration config;
  config.schema.read_file(folder / "x.toml");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.name, "x");
  EXPECT_EQ(config.options.seed, 2u);
  EXPECT_EQ(config.options.steps, 20);
}

// A second reading would undo what came in between.
TEST(Config, AFileCountsOnce) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a.toml", "seed = 1\n");
  write_file_atomically(folder / "b.toml", "include = 'a.toml'\nseed = 2\n");
  const std::string a = (folder / "a.toml").string(), b = (folder / "b.toml").string();
  Configuration twice;
  twice.schema.read_file(a);
  twice.schema.read_file(folder / "." / "a.toml");
  EXPECT_EQ(twice.problems(),
            Lines{"'" + (folder / "." / "a.toml").string() + "' was read before: name it once"});
  Configuration included;
  included.schema.read_file(a);
  included.schema.read_file(b);
  EXPECT_EQ(included.problems(), Lines{b + ":1: '" + a + "' was read before: name it once"});
}

TEST(Config, ASectionOfAMethodCountsOnceTheMethodWasRead) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "data.toml",
                        "seed = 3\n[method.m]\nseed = 4\ntrain.steps = 40\n[method.other]\n"
                        "seed = 5\n");
  write_file_atomically(folder / "m.toml", "seed = 1\nname = 'm'\n");
  write_file_atomically(folder / "more.toml", "include = 'm.toml'\ntrain.steps = 50\n");
  const auto read = [&](const std::vector<std::string>& names) {
    Configuration config;
    for (const std::string& name : names) config.schema.read_file(folder / name);
    EXPECT_EQ(config.problems(), Lines{});
    return config.options;
  };
  EXPECT_EQ(read({"data.toml"}).seed, 3u);
  EXPECT_EQ(read({"data.toml", "m.toml"}).seed, 4u) << "over what the method says itself";
  EXPECT_EQ(read({"data.toml", "m.toml"}).steps, 40);
  EXPECT_EQ(read({"data.toml", "more.toml"}).seed, 4u) << "of an included method, too";
  EXPECT_EQ(read({"data.toml", "more.toml"}).steps, 50) << "under what includes the method";
  EXPECT_EQ(read({"m.toml", "data.toml"}).seed, 3u) << "of methods to come only";
}

TEST(Config, ASectionOfAMethodIsCheckedWhetherItCountsOrNot) {
  EXPECT_EQ(problems_of("[method.m]\nsed = 4\n[method.n]\nprocess.r = 2\n"),
            (Lines{"x.toml:2: unknown key 'sed' (did you mean 'seed'?)",
                   "x.toml:4: 'process.r' must be a number in [0, 1], got 2"}));
  EXPECT_EQ(problems_of("method = 3"), Lines{"x.toml:1: 'method' must be a table of methods"});
  EXPECT_EQ(problems_of("method.m = 3"), Lines{"x.toml:1: 'method.m' must be a table of keys"});
}

TEST(Config, AMethodDoesNotFitWhatItIsNotFor) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "curves.toml", "process.trajectory = 'curved'\n");
  write_file_atomically(folder / "lines.toml", "seed = 2\n");
  write_file_atomically(folder / "m.toml",
                        "[needs]\nprocess.trajectory = 'curved'\n[train]\nstep = 3\n");
  const std::string m = (folder / "m.toml").string();
  Configuration good;
  good.schema.read_file(folder / "curves.toml");
  good.schema.read_file(m);
  EXPECT_EQ(good.problems(),
            Lines{m + ":4: unknown key 'train.step' (did you mean 'train.steps'?)"});
  Configuration bad;  // reports the cause, not the problems that follow from it
  bad.schema.read_file(folder / "lines.toml");
  bad.schema.read_file(m);
  EXPECT_EQ(bad.problems(), Lines{"'" + m +
                                  "' does not fit: it is for process.trajectory = \"curved\", and "
                                  "here process.trajectory is \"straight\""});
  Configuration alone;
  alone.schema.read_file(m);
  EXPECT_TRUE(alone.problems()[0].starts_with("'" + m + "' is a method: name a recipe of data"));
  EXPECT_EQ(problems_of("needs = 3").size(), 1u);
}

TEST(Config, AnOldNameIsWarnedAbout) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a.toml", "seed = 5\n");
  write_file_atomically(folder / "old.toml", "old_name = true\ninclude = ['a.toml']\n");
  Configuration config;
  config.schema.read_file(folder / "old.toml");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.seed, 5u);
  EXPECT_EQ(config.schema.warnings(),
            Lines{"'" + (folder / "old.toml").string() + "' is an old name that will go: say " +
                  (folder / "a.toml").string()});
  EXPECT_EQ(problems_of("old_name = 1"), Lines{"x.toml:1: 'old_name' must be true or false"});
}

TEST(Config, ATableOfResultsIsNoConfiguration) {
  EXPECT_EQ(problems_of("title = 'x'\n[[cell]]\nrow = 'a'\n"),
            Lines{"'x.toml' is a table of results: `tessera experiment x.toml` makes it"});
}

TEST(Config, OverridesWinOverFilesWheneverTheyAreGiven) {
  Configuration config;
  config.schema.apply_override("seed=1");
  config.schema.read_text("seed = 2\ntrain.steps = 20", "a.toml");
  config.schema.read_text("train.steps = 30", "b.toml");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.seed, 1u);
  EXPECT_EQ(config.options.steps, 30);
}

TEST(Config, LastOverrideWins) {
  Configuration config;
  config.schema.apply_override("seed=1");
  config.schema.apply_override("seed=2");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.seed, 2u);
}

TEST(Config, OverridesTakeTomlValuesAndBareWords) {
  Configuration config;
  for (const char* assignment :
       {"name=my run", "train.data=/a/b c", "process.trajectory=curved", "process.temperature=0.5",
        "train.widths=[1,2]", "train.languages=[\"fr\", 'it']", "train.fast=true",
        " process.r = 1e-3 "})
    config.schema.apply_override(assignment);
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.name, "my run");
  EXPECT_EQ(config.options.data, "/a/b c");
  EXPECT_EQ(config.options.process.trajectory, Path::curved);
  EXPECT_EQ(config.options.process.temperature, 0.5);
  EXPECT_EQ(config.options.widths, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(config.options.languages, (std::vector<std::string>{"fr", "it"}));
  EXPECT_TRUE(config.options.fast);
  EXPECT_EQ(config.options.process.r, 1e-3);
}

TEST(Config, OverrideOfAStringTakesWhatLooksLikeSomethingElse) {
  for (const std::string text : {"2024", "true", "1.50", "a=b", "#fff", "", "[1", "1979-05-27"}) {
    Configuration config;
    config.schema.apply_override("name=" + text);
    EXPECT_EQ(config.problems(), Lines{});
    EXPECT_EQ(config.options.name, text);
  }
  Configuration config;
  config.schema.apply_override("name=\"quoted\"");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.name, "quoted");
}

TEST(Config, NoneEmptiesAnOptionalNumber) {
  Configuration config;
  config.schema.read_text("process.temperature = 0.5", "x.toml");
  config.schema.apply_override("process.temperature=none");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.process.temperature, std::nullopt);
}

TEST(Config, RefusesBadOverrides) {
  EXPECT_EQ(problems_of_override("seed"), Lines{"override 'seed': must be of the form key=value"});
  EXPECT_EQ(problems_of_override("=3"), Lines{"override '=3': unknown key ''"});
  EXPECT_EQ(problems_of_override("seed=many"),
            Lines{"override 'seed=many': 'seed' must be a non-negative integer, got \"many\""});
  EXPECT_EQ(problems_of_override("process={r=1}"),
            Lines{"override 'process={r=1}': 'process' is a table, not an option"});
  EXPECT_EQ(problems_of_override("seed=1\nname='x'"),
            Lines{"override 'seed=1 name='x'': 'seed' must be a non-negative integer, got "
                  "\"1\\nname='x'\""});
}

TEST(Config, LongValuesAreCutInMessages) {
  const Lines found = problems_of("seed = '" + std::string(1000, 'x') + "'");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LT(found[0].size(), 150u);
}

TEST(Config, DumpReadsBackToTheSameValues) {
  Configuration first;
  Options& options = first.options;
  options.name = "quotes \" \\ and\nlines\t\x01\x7f é";
  options.seed = std::numeric_limits<uint64_t>::max();
  options.fast = true;
  options.steps = 90;
  options.data = "C:\\data";
  options.widths = {1, std::numeric_limits<int64_t>::max()};
  options.betas = {0.1, 1.0 / 3, 5e-324, 0, 1};
  options.languages = {"", "a, b"};
  options.process = {
      .r = std::nextafter(1.0, 0.0), .trajectory = Path::curved, .temperature = 1e22};
  Configuration second;
  second.schema.read_text(first.schema.dump(), "dump.toml");
  EXPECT_EQ(second.problems(), Lines{}) << first.schema.dump();
  EXPECT_EQ(second.options, first.options) << first.schema.dump();
}

// Checkpoints keep options as JSON, which has no such numbers.
TEST(Config, NumbersAreFinite) {
  for (const char* text : {"inf", "-inf", "nan"}) {
    double x = 0;
    config::Schema schema;
    schema.option("x", x, "a number");
    schema.read_text(std::string("x = ") + text, "options.toml");
    EXPECT_THROW(schema.finish(), UsageError) << text;
  }
}

TEST(Config, DumpGroupsByTableAndExplains) {
  Configuration config;
  const std::string expected = R"(# of the run (string)
name = "run"
# of all random numbers (non-negative integer)
seed = 7

[train]
# cut corners (true or false)
fast = false
# how many (integer of at least 1)
steps = 100
# where the data is (path)
data = "data/train"
# of the layers (list of integers, each of at least 1)
widths = [64, 128]
# of the optimiser (list of numbers, each in [0, 1])
betas = [0.9, 0.999]
# from which into which (list of strings)
languages = ["de", "en"]

[process]
# confidence factor (number in [0, 1])
r = 0.5
# the way from data to noise (straight | curved)
trajectory = "straight"
# of the softmax (number above 0 or "none")
temperature = "none"
)";
  EXPECT_EQ(config.schema.dump(), expected);
}

TEST(Config, DumpBreaksLongHelpIntoLines) {
  int64_t x = 0;
  config::Schema schema;
  std::string help;
  for (int i = 0; i < 50; ++i) help += "word ";
  schema.option("x", x, help);
  std::istringstream lines(schema.dump());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u);
  schema.read_text(schema.dump(), "dump.toml");
  schema.finish();
}

TEST(Config, MarkdownShowsTheDefaults) {
  Configuration config;
  config.schema.apply_override("process.r=0.1");
  EXPECT_EQ(config.problems(), Lines{});
  const std::string table = config.schema.markdown();
  EXPECT_TRUE(table.starts_with("| key | type | default | meaning |\n| --- |")) << table;
  for (const char* row :
       {"| `process.r` | number in [0, 1] | `0.5` | confidence factor |\n",
        "| `process.trajectory` | straight \\| curved | `\"straight\"` | the way"})
    EXPECT_NE(table.find(row), std::string::npos) << table;
}

TEST(Config, RefusesToDeclareAKeyTwice) {
  double x = 0, y = 0;
  config::Schema schema;
  schema.option("a.b", x, "");
  EXPECT_THROW(schema.option("a.b", y, ""), Error);
  EXPECT_THROW(schema.option("a", y, ""), Error);
  EXPECT_THROW(schema.option("a.b.c", y, ""), Error);
}

TEST(Config, GivesItsValuesAndTakesThemBack) {
  Configuration from;
  from.options.process.r = 0.1 + 0.2;
  from.options.process.trajectory = Path::curved;
  from.options.process.temperature = 2.5;
  from.options.seed = ~uint64_t{0};
  from.options.widths = {};
  Configuration to;
  for (const auto& [key, value] : from.schema.values()) to.schema.set(key, value, "elsewhere");
  to.schema.finish();
  EXPECT_EQ(to.options, from.options);
  from.options.process.temperature = std::nullopt;
  EXPECT_EQ(from.schema.values().at("process.temperature"), config::Value());
  to.schema.set("process.temperature", config::Value(), "elsewhere");
  to.schema.finish();
  EXPECT_EQ(to.options, from.options);
}

TEST(Config, ChecksValuesFromElsewhereLikeThoseOfFiles) {
  Configuration configuration;
  configuration.schema.set("process.r", 7.0, "model/config.json");
  configuration.schema.set("process.rr", 0.5, "model/config.json");
  configuration.schema.set("train.steps", std::string("many"), "model/config.json");
  configuration.schema.set("process.temperature", int64_t{3}, "model/config.json");
  const auto problems = configuration.problems();
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0], "model/config.json: 'process.r' must be a number in [0, 1], got 7.0");
  EXPECT_EQ(problems[1], "model/config.json: unknown key 'process.rr' (did you mean 'process.r'?)");
}

TEST(Config, SaysWhatWasReadOfAKeyBeforeAllIsKnown) {
  Path path = Path::straight;
  config::Schema schema;
  schema.option("path", path, "the only key this schema knows");
  EXPECT_FALSE(schema.read_so_far("path").has_value());
  schema.read_text("path = \"curved\"\nothers = 3\n", "x.toml");
  EXPECT_EQ(schema.read_so_far("path"), config::Value(std::string("curved")));
  schema.apply_override("path=straight");
  EXPECT_EQ(schema.read_so_far("path"), config::Value(std::string("straight"))) << "overrides win";
  EXPECT_EQ(path, Path::straight) << "the field waits for finish()";
}

}  // namespace
}  // namespace tessera
