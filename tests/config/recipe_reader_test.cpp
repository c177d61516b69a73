#include "config/recipe_reader.h"

#include "config/made_configuration.h"
#include "files/files.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

using test::Configuration;
using test::Lines;
using test::problems_of;

TEST(RecipeReader, SyntaxErrorsComeWithTheirLine) {
  const Lines found = problems_of("name = 'a'\nseed = = 3\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("x.toml:2: ")) << found[0];
}

// The parser asserted that they are keys before it looked (config/toml.h).
TEST(RecipeReader, TablesWhoseNameIsNoKeyAreAProblem) {
  for (const char* text : {"[.a]\n", "[\x01]\n", "[[.a]]\n", "[a..b]\n", "[="}) {
    const Lines found = problems_of(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_TRUE(found[0].starts_with("x.toml:1: ")) << found[0];
  }
}

TEST(RecipeReader, MissingFileIsNamed) {
  Configuration config;
  config.schema.read_file("/nowhere/x.toml");
  EXPECT_EQ(config.problems(), Lines{"cannot read '/nowhere/x.toml': No such file or directory"});
}

TEST(RecipeReader, ProblemsInAFileCarryItsPath) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "x.toml", "\n\nsteps = 3");
  Configuration config;
  config.schema.read_file(folder / "x.toml");
  EXPECT_EQ(config.problems(), Lines{(folder / "x.toml").string() +
                                     ":3: unknown key 'steps' (did you mean 'train.steps'?)"});
}

TEST(RecipeReader, AFileWinsOverTheOneItIncludes) {
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

TEST(RecipeReader, ProblemsOfAnIncludedFileCarryItsPath) {
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

TEST(RecipeReader, AnIncludedFileThatCannotBeReadIsNamedWithTheLine) {
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

TEST(RecipeReader, FilesThatIncludeEachOtherAreAProblem) {
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

TEST(RecipeReader, FilesIncludeOthersToABoundedDepth) {
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

TEST(RecipeReader, AListOfFilesIsIncludedFromLeftToRight) {
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

// The second time it would undo what came between.
TEST(RecipeReader, AFileCountsOnce) {
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

TEST(RecipeReader, ASectionOfAMethodCountsOnceTheMethodWasRead) {
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

TEST(RecipeReader, ASectionOfAMethodIsCheckedWhetherItCountsOrNot) {
  EXPECT_EQ(problems_of("[method.m]\nsed = 4\n[method.n]\nprocess.r = 2\n"),
            (Lines{"x.toml:2: unknown key 'sed' (did you mean 'seed'?)",
                   "x.toml:4: 'process.r' must be a number in [0, 1], got 2"}));
  EXPECT_EQ(problems_of("method = 3"), Lines{"x.toml:1: 'method' must be a table of methods"});
  EXPECT_EQ(problems_of("method.m = 3"), Lines{"x.toml:1: 'method.m' must be a table of keys"});
}

TEST(RecipeReader, AMethodDoesNotFitWhatItIsNotFor) {
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
  Configuration bad;  // which says why before all that follows from it
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

TEST(RecipeReader, AnOldNameIsWarnedAbout) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a.toml", "seed = 5\n");
  write_file_atomically(folder / "old.toml", "old_name = true\ninclude = ['a.toml']\n");
  Configuration config;
  config.schema.read_file(folder / "old.toml");
  EXPECT_EQ(config.problems(), Lines{});
  EXPECT_EQ(config.options.seed, 5u);
  EXPECT_EQ(config.schema.warnings(),
            Lines{"'" + (folder / "old.toml").string() +
                  "' is an old name that will be removed: use " + (folder / "a.toml").string()});
  EXPECT_EQ(problems_of("old_name = 1"), Lines{"x.toml:1: 'old_name' must be true or false"});
}

TEST(RecipeReader, ATableOfResultsIsNoConfiguration) {
  EXPECT_EQ(problems_of("title = 'x'\n[[cell]]\nrow = 'a'\n"),
            Lines{"'x.toml' is a table of results: `tessera experiment x.toml` makes it"});
}

}  // namespace
}  // namespace tessera
