#include "report/cases.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::report {
namespace {

using test::complaint;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Sample sample(const std::string& number, const std::string& generated) {
  return {"s" + number, generated, "r" + number};
}

// Sentences of an evaluation: the second run is right in all of them, the first in every third.
std::vector<RunRecord> evaluated_runs(int sentences) {
  std::vector<RunRecord> runs(2);
  for (int k = 0; k < sentences; ++k) {
    const std::string number = std::to_string(k), right = "r" + number;
    runs[0].evaluated.push_back(sample(number, k % 3 == 0 ? right : "wrong"));
    runs[1].evaluated.push_back(sample(number, right));
  }
  return runs;
}

TEST(Cases, AreTheFirstOnWhichRunsDifferAndAFewOnWhichTheyAgree) {
  const Cases cases = choose_cases(evaluated_runs(30));
  EXPECT_TRUE(cases.evaluated);
  EXPECT_EQ(cases.compared, 30u);
  EXPECT_EQ(cases.differing, 20u);
  std::vector<std::string> sources;
  for (const auto& each : cases.shown) sources.push_back(each.source);
  EXPECT_THAT(sources, ElementsAre("s1", "s2", "s4", "s5", "s7", "s8", "s10", "s11", "s0", "s3"));
  EXPECT_THAT(cases.shown[0].generated, ElementsAre("wrong", "r1"));
}

TEST(Cases, OfOneRunAreThoseThatDifferFromTheirReferences) {
  const std::vector<RunRecord> runs = evaluated_runs(6);
  const Cases cases = choose_cases(std::span(runs).first(1));
  EXPECT_EQ(cases.differing, 4u);
  ASSERT_EQ(cases.shown.size(), 6u);
  EXPECT_EQ(cases.shown[0].source, "s1");
}

TEST(Cases, AreOfValidationWhereNothingWasEvaluated) {
  std::vector<RunRecord> runs = evaluated_runs(3);
  runs[1].evaluated.clear();
  runs[0].samples = {sample("7", "a"), sample("8", "b"), sample("9", "c")};
  runs[1].samples = {sample("9", "c"), sample("7", "x")};
  const Cases cases = choose_cases(runs);
  EXPECT_FALSE(cases.evaluated);
  ASSERT_EQ(cases.shown.size(), 2u) << "what all runs have";
  EXPECT_THAT(cases.shown[0].generated, ElementsAre("a", "x"));
  EXPECT_EQ(cases.shown[1].source, "s9");
}

TEST(Cases, StandSideBySideOnThePage) {
  std::vector<RunRecord> runs(2);
  runs[0].samples = {{"ein <b>hund</b>", "a cat", "a dog"}};
  runs[1].samples = {{"ein <b>hund</b>", "a dog", "a dog"}};
  const std::string html = cases_section(runs, {"base", "<ours>"});
  EXPECT_THAT(html, HasSubstr("<dd>ein &lt;b&gt;hund&lt;/b&gt;</dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>base</dt><dd>a <mark>cat</mark></dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>&lt;ours&gt;</dt><dd>a dog</dd>"));
  EXPECT_THAT(html, HasSubstr("still be right"));
  EXPECT_EQ(cases_section(std::vector<RunRecord>(2), {"a", "b"}), "");
  runs[0].settings["train.score"] = "exact-match";
  EXPECT_THAT(cases_section(runs, {"a", "b"}), Not(HasSubstr("still be right")));
}

TEST(Cases, AreReadFromWhatAnEvaluationWrote) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "config.toml", "[train]\nout = \"a\"\n");
  write_file_atomically(folder / "metrics.jsonl", "{\"step\":1,\"loss\":0.5}\n");
  const std::string line = R"({"source":"s","generated":"g","reference":"r"})";
  write_file_atomically(folder / "evaluation.jsonl", line + "\n" + line + "\n");
  const RunRecord run = read_run(folder.path());
  ASSERT_EQ(run.evaluated.size(), 2u);
  EXPECT_EQ(run.evaluated[0].generated, "g");
  write_file_atomically(folder / "evaluation.jsonl", line + "\nnothing\n");
  EXPECT_THAT(complaint([&] { read_run(folder.path()); }),
              testing::AllOf(HasSubstr("line 2"), HasSubstr("evaluation.jsonl")));
}

}  // namespace
}  // namespace tessera::report
