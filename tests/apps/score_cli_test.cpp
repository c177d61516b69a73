#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ScoreCommand : public tessera::test::ProgramTest {
 protected:
  ScoreCommand() {
    write("ref", "The cat sat on the mat.\nA dog barks loudly at night.\n");
    write("second", "A cat sat on a mat.\nA dog is barking in the night.\n");
    write("hyp", "The cat sat on a mat.\nA dog barks at night.\n");
    write("other", "Cat mat.\nA dog.\n");
  }

  nlohmann::json report(const std::string& arguments) const {
    const auto result = run("--json score " + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }
};

// sacrebleu ref -i hyp -m bleu chrf -w 2, sacreBLEU 2.6.0; RougeScorer of rouge_score 0.1.2
TEST_F(ScoreCommand, PrintsOneLineAScoreWithItsSignature) {
  const auto result = run("score --ref ref --hyp hyp --metric bleu,chrf,rouge");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out,
              StartsWith("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tessera-"));
  EXPECT_THAT(
      result.out,
      HasSubstr(
          " = 42.07 92.3/72.7/44.4/14.3 (BP = 0.926 ratio = 0.929 hyp_len = 13 ref_len = 14)\n"));
  EXPECT_THAT(result.out, HasSubstr("chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|"));
  EXPECT_THAT(result.out, HasSubstr(" = 63.16\n"));
  EXPECT_THAT(result.out, HasSubstr("ROUGE-2|nrefs:1|"));
  EXPECT_THAT(result.out, HasSubstr(" = 63.33 (P = 67.50 R = 60.00)\n"));
}

TEST_F(ScoreCommand, TakesSeveralReferences) {
  const auto bleu = report("--ref ref --ref second --hyp hyp")["metrics"][0];
  EXPECT_THAT(bleu["signature"].get<std::string>(), StartsWith("nrefs:2|"));
  EXPECT_GT(bleu["score"], 42.07);
}

TEST_F(ScoreCommand, PrintsJson) {
  const auto json = report("--ref ref --hyp hyp --tokenize none --lowercase --metric bleu,rouge");
  EXPECT_EQ(json["lines"], 2);
  ASSERT_EQ(json["metrics"].size(), 4u);
  const auto& bleu = json["metrics"][0];
  EXPECT_EQ(bleu["name"], "BLEU");
  EXPECT_THAT(bleu["signature"].get<std::string>(), StartsWith("nrefs:1|case:lc|eff:no|tok:none|"));
  EXPECT_EQ(bleu["precisions"].size(), 4u);
  EXPECT_EQ(bleu["cumulative"][3], bleu["score"]);
  EXPECT_EQ(bleu["hyp_len"], 11);
  EXPECT_EQ(json["metrics"][3]["name"], "ROUGE-L");
  EXPECT_FALSE(bleu.contains("sentences"));
}

TEST_F(ScoreCommand, PrintsTheScoresOfEveryLine) {
  const auto result = run("score --ref ref --hyp hyp --metric bleu,chrf --sentence");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("# BLEU|"));
  EXPECT_THAT(result.out, HasSubstr("eff:yes"));
  EXPECT_THAT(result.out, HasSubstr("\nline\tBLEU\tchrF2\n1\t48.89\t65.80\n2\t43.01\t61.09\n"));
}

TEST_F(ScoreCommand, ComparesTwoSystems) {
  const auto result = run("score --ref ref --hyp hyp --compare other --samples 200");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("|bs:200|seed:1|"));
  EXPECT_THAT(result.out, HasSubstr("p = "));

  const auto comparison =
      report("--ref ref --hyp hyp --compare other --samples 200")["metrics"][0]["comparison"];
  EXPECT_GT(comparison["difference"], 0);
  EXPECT_GT(comparison["hyp"]["score"], comparison["other"]["score"]);
  EXPECT_LE(comparison["hyp"]["low"], comparison["hyp"]["high"]);
  EXPECT_GT(comparison["p_value"], 0);
}

TEST_F(ScoreCommand, ReadsStandardInput) {
  const std::string expected = run("score --ref ref --hyp hyp").out;
  EXPECT_EQ(run("score --ref ref --hyp - <hyp").out, expected);
  EXPECT_EQ(run("score --ref - --hyp hyp <ref").out, expected);
  const auto result = run("score --ref - --hyp - <hyp");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("standard input"));
}

TEST_F(ScoreCommand, CountsALastLineWithoutItsEnd) {
  write("cut", "The cat sat on a mat.\nA dog barks at night.");
  EXPECT_EQ(run("score --ref ref --hyp cut").out, run("score --ref ref --hyp hyp").out);
}

TEST_F(ScoreCommand, MeasuresEmptyLines) {
  write("gap", "The cat sat on a mat.\n\n");
  const auto json = report("--ref ref --hyp gap --sentence --metric bleu,chrf,chrf++,rouge");
  for (const auto& metric : json["metrics"]) EXPECT_EQ(metric["sentences"][1], 0) << metric;
}

TEST_F(ScoreCommand, NamesBothCountsOfFilesThatDoNotBelongTogether) {
  write("short", "The cat sat on a mat.\n");
  for (const char* arguments : {"--ref ref --hyp short", "--ref ref --ref short --hyp hyp",
                                "--ref ref --hyp hyp --compare short"}) {
    const auto result = run(std::string("score ") + arguments);
    EXPECT_EQ(result.status, 1) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_THAT(result.err, HasSubstr("short has 1 line")) << arguments;
    EXPECT_THAT(result.err, HasSubstr("has 2 line")) << arguments;
  }
}

TEST_F(ScoreCommand, FailsOnFilesThatAreMissingEmptyOrNotText) {
  write("empty", "");
  write("latin1", "The cat\nsa\xDF on a mat\n");
  for (const auto& [file, message] : std::vector<std::pair<std::string, std::string>>{
           {"missing", "missing"}, {"empty", "empty"}, {"latin1", "latin1:2"}}) {
    const auto result = run("score --ref ref --hyp " + file);
    EXPECT_EQ(result.status, 1) << file;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

TEST_F(ScoreCommand, EndsWithTwoForWrongUsage) {
  for (const char* arguments :
       {"", "--ref ref", "--hyp hyp", "--ref ref --hyp hyp --metric blue",
        "--ref ref --hyp hyp --tokenize 14a", "--ref ref --hyp hyp --smooth much",
        "--ref ref --hyp hyp --compare other --samples 0"}) {
    const auto result = run(std::string("score ") + arguments);
    EXPECT_EQ(result.status, 2) << arguments << '\n' << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_THAT(run("score --ref ref --hyp hyp --metric blue").err, HasSubstr("did you mean 'bleu'"));
}

TEST_F(ScoreCommand, WarnsOfTokenisedText) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "It is late .\n";
  write("tokenised", lines);
  EXPECT_THAT(run("score --ref tokenised --hyp tokenised").err, HasSubstr("--tokenize none"));
  EXPECT_EQ(run("score --ref tokenised --hyp tokenised --tokenize none").err, "");
}

}  // namespace
