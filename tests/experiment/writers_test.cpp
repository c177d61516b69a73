#include "experiment/findings.h"

#include "experiment/made_experiment.h"
#include "seq2seq/tiny_model.h"
#include "support/complaint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::experiment {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kWrittenTable = R"(
title = "Rows <and> columns"
note = "A note & more"
base = "plain"
columns = ["bleu", "nfe", "nothing.here"]
seeds = [1, 2]
[data]
raw = ""
[model.a]
recipe = "r.toml"
data = "raw"
[model.b]
recipe = "r.toml"
data = "raw"
overrides = ["process.r=0.5"]
[[cell]]
row = "plain"
column = "raw"
model = "a"
[[cell]]
row = "ours | both"
column = "raw"
model = "b"
[[cell]]
row = "ours | both"
column = "fast"
model = "b"
evaluate = ["--steps", 2]
)";

class Writers : public test::MadeExperiment {
 protected:
  Writers() {
    write_file_atomically(folder_ / "r.toml", "");
    const auto tokenizer = tessera::test::tiny_tokenizer();
    corpus::CorpusWriter corpus(folder_ / "corpus", tokenizer);
    for (const char* split : {"train", "valid", "test"}) {
      corpus.begin_split(split);
      for (const char* line : {"a b c d e", "f g h i j"})
        corpus.add(line, line, tokenizer.encode(line), tokenizer.encode(line));
    }
    corpus.commit({});
    data_["raw"] = folder_ / "corpus";
    read(kWrittenTable);
  }

  // Runs all jobs, with BLEU 30 for seed 1 and 34 for seed 2. Jobs with two steps fail.
  std::vector<JobState> states() {
    test::write_program(
        folder_ / "program",
        "case \"$*\" in *'--steps 2'*) echo 'error: <no> steps' >&2; exit 1;; esac");
    std::vector<JobState> result;
    tessera::test::said([&] { result = run(); });
    for (size_t k = 0; k < plan_.jobs.size(); ++k)
      if (plan_.jobs[k].kind == JobKind::evaluation && result[k].status == JobStatus::done)
        result[k].result["evaluation"]["metrics"][0]["score"] =
            plan_.jobs[k].seed == 1 ? 30.0 : 34.0;
    return result;
  }
};

TEST_F(Writers, FindMeansAndDeviations) {
  const auto all = states();
  const Findings findings = found(all);
  const FoundCell* cell = findings.at("plain", "raw");
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->scores[0].seeds, 2u);
  EXPECT_EQ(cell->scores[0].mean, 32);
  ASSERT_TRUE(cell->scores[0].deviation.has_value());
  EXPECT_NEAR(*cell->scores[0].deviation, std::sqrt(8.0), 1e-12);
  EXPECT_FALSE(cell->scores[0].contest.has_value()) << "the base row is not tested against itself";
  EXPECT_EQ(score_text(*cell, 0, 2), "32.00 ± 2.83");
  EXPECT_EQ(score_text(*cell, 2, 2), "–") << "the evaluation has no such number";
  EXPECT_TRUE(findings.at("ours | both", "raw")->scores[0].contest.has_value());
  EXPECT_FALSE(findings.at("ours | both", "raw")->scores[1].contest.has_value());
  EXPECT_EQ(score_text(*findings.at("ours | both", "fast"), 0, 2), "failed");
  EXPECT_EQ(findings.at("plain", "fast"), nullptr);
}

TEST_F(Writers, SayWhatIsMissingOfACell) {
  auto all = states();
  for (size_t k = 0; k < plan_.jobs.size(); ++k)
    if (plan_.jobs[k].title == "evaluate plain, raw, seed 2") all[k] = {};
  EXPECT_EQ(score_text(*found(all).at("plain", "raw"), 0, 1), "30.0 (1 of 2 seeds)");
  const std::vector<JobState> none(plan_.jobs.size());
  const Findings nothing = found(none);
  EXPECT_EQ(score_text(*nothing.at("plain", "raw"), 0, 1), "not run");
  EXPECT_THAT(markdown_table(nothing), HasSubstr("## Not run\n- train a, seed 1\n"));
}

TEST_F(Writers, MarkWhatIsSignificant) {
  Score score;
  EXPECT_EQ(significance_mark(score), "");
  score.contest.emplace().p_value = 0.2;
  EXPECT_EQ(significance_mark(score), "");
  score.contest->p_value = 0.03;
  EXPECT_EQ(significance_mark(score), "*");
  score.contest->p_value = 0.004;
  EXPECT_EQ(significance_mark(score), "**");
}

TEST_F(Writers, WriteMarkdown) {
  const auto all = states();
  const std::string text = markdown_table(found(all));
  EXPECT_THAT(text, HasSubstr("|  | raw, BLEU | raw, nfe | fast, BLEU | fast, nfe |"));
  EXPECT_THAT(text, HasSubstr("| plain | 32.00 ± 2.83 | 20.00 ± 0.00 |  |"));
  EXPECT_THAT(text, HasSubstr("| ours \\| both, raw | 1 | 30.00 | 20.00 | – | 0.900 | 0.950 |\n"));
  EXPECT_THAT(text, HasSubstr("- `BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:x`"));
  EXPECT_THAT(text, HasSubstr("paired bootstrap over the test lines; a line is drawn together with "
                              "the outputs of all seeds that both rows have"));
  EXPECT_THAT(text, HasSubstr("## Failed\n- ours | both, fast, seed 1\n\n"
                              "    exit code 1\n    error: <no> steps\n"));
  EXPECT_THAT(text, HasSubstr("- train b, seed 2: done\n  `tessera train "));
}

TEST_F(Writers, LeaveOutColumnsOfWhichNoEvaluationHasANumber) {
  const std::string there = "| raw, nothing.here |";
  auto all = states();
  EXPECT_THAT(markdown_table(found(all)), Not(HasSubstr(there)));
  for (JobState& state : all)
    if (state.status == JobStatus::done) state.result["evaluation"]["nothing"]["here"] = 1.5;
  EXPECT_THAT(markdown_table(found(all)), HasSubstr(there));
  const std::vector<JobState> none(plan_.jobs.size());
  EXPECT_THAT(markdown_table(found(none)), HasSubstr(there)) << "it may still get one";
}

TEST_F(Writers, SayWhichLinesATestWasOn) {
  auto all = states();
  for (JobState& state : all)
    if (state.result.contains("evaluation")) state.result["evaluation"]["split"] = "valid";
  EXPECT_THAT(markdown_table(found(all)), HasSubstr("paired bootstrap over the validation lines"));
}

TEST_F(Writers, WriteJson) {
  const auto all = states();
  const Json json = json_table(found(all));
  const Json& cell = json["cells"][1];
  EXPECT_EQ(cell["row"], "ours | both");
  EXPECT_EQ(cell["status"], "done");
  EXPECT_EQ(cell["scores"]["bleu"]["mean"], 32.0);
  EXPECT_EQ(cell["scores"]["bleu"]["against_base"]["seeds"], Json({1, 2}));
  EXPECT_EQ(cell["runs"][1]["seed"], 2);
  EXPECT_EQ(cell["runs"][1]["values"]["bleu"], 34.0);
  EXPECT_TRUE(cell["runs"][1]["values"]["nothing.here"].is_null());
  EXPECT_EQ(cell["runs"][1]["evaluation"]["metrics"][0]["ratio"], 0.95);
  EXPECT_EQ(json["cells"][2]["status"], "failed");
  EXPECT_EQ(json["made"].size(), 4u);
}

TEST_F(Writers, WriteAPageThatNeedsNoOtherFile) {
  const auto all = states();
  // What two of the runs have measured.
  for (size_t k = 0; k < plan_.jobs.size(); ++k)
    if (plan_.jobs[k].kind == JobKind::training && plan_.jobs[k].seed == 1)
      write_file_atomically(plan_.jobs[k].folder / "metrics.jsonl",
                            "{\"step\":1,\"loss\":4.0}\n{\"step\":2,\"loss\":2.0}\n");
  const std::string html = html_table(found(all));
  EXPECT_THAT(html, AllOf(HasSubstr("Rows &lt;and&gt; columns"), HasSubstr("A note &amp; more"),
                          HasSubstr("<td>32.00 ± 2.83</td>"), HasSubstr("&lt;no&gt; steps"),
                          HasSubstr("Loss in training"), HasSubstr("curve boundary"),
                          HasSubstr("<td>0.900</td>"), HasSubstr("Failed or not run")));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")),
                          Not(HasSubstr("src=")), Not(HasSubstr("<no>"))));
}

}  // namespace
}  // namespace tessera::experiment
