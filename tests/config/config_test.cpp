#include "config/config.h"

#include "config/made_configuration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace tessera {
namespace {

using test::Configuration;
using test::Lines;
using test::Options;
using test::Path;
using test::problems_of;

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

TEST(Config, SyntaxErrorDoesNotHideProblemsOfOverrides) {
  Configuration config;
  config.schema.read_text("name = ", "x.toml");
  config.schema.apply_override("foo=3");
  EXPECT_EQ(config.problems().size(), 2u);
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
