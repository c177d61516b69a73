#include "seq2seq/tiny_model.h"
#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ScoreModelCommand : public tessera::test::ProgramTest {
 protected:
  ScoreModelCommand() {
    tessera::test::write_tiny_model(folder_ / "model", tessera::test::tiny_autoregressive());
    write("source", "a b c\n\nd e\n");
    write("target", "x\ny z\n\n");
  }
};

TEST_F(ScoreModelCommand, PrintsLogProbabilityAndPerplexityOfEveryLine) {
  const auto result = run("--device cpu score-model model --src source --tgt target");
  ASSERT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  const int symbols[] = {2, 3, 1};  // end symbols included
  for (const int count : symbols) {
    double log_probability = 0, perplexity = 0;
    ASSERT_TRUE(lines >> log_probability >> perplexity);
    EXPECT_LT(log_probability, 0);
    EXPECT_NEAR(std::log(perplexity), -log_probability / count, 1e-3);
  }
  EXPECT_THAT(result.err, HasSubstr("3 lines, 6 symbols"));
  const auto json = run("--json --device cpu score-model model --src source --tgt target");
  const auto first = nlohmann::json::parse(json.out.substr(0, json.out.find('\n')));
  EXPECT_EQ(first["symbols"], 2);
  const auto each = first["log_probabilities"].get<std::vector<double>>();
  ASSERT_EQ(each.size(), 2);
  EXPECT_NEAR(each[0] + each[1], first["log_probability"].get<double>(), 1e-6);
}

TEST_F(ScoreModelCommand, AgreesWithTheSearch) {
  write("in", "a b c\n");
  const auto found = run("--json --device cpu generate model --beam 4 <in");
  ASSERT_EQ(found.status, 0) << found.err;
  const auto best = nlohmann::json::parse(found.out)["candidates"][0];
  write("hyp", best["text"].get<std::string>() + "\n");
  const auto score = run("--json --device cpu score-model model --src in --tgt hyp");
  const auto json = nlohmann::json::parse(score.out);
  EXPECT_NEAR(json["log_probability"].get<double>() / json["symbols"].get<double>(),
              best["confidence"].get<double>(), 1e-4);
}

TEST_F(ScoreModelCommand, LeavesOutWhatIsNeverWrittenAndCountsIt) {
  write("two", "a\na b\n");
  write("unknown", "b\na ☃ b ☂\n");
  const auto result = run("--json --device cpu score-model model --src two --tgt unknown");
  EXPECT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_EQ(nlohmann::json::parse(first)["impossible"].size(), 0u);
  const auto json = nlohmann::json::parse(second);
  EXPECT_EQ(json["impossible"], (std::vector<std::string>{"<unk>", "<unk>"}));
  EXPECT_EQ(json["symbols"], 3) << "a, b and the end";
  ASSERT_EQ(json["log_probabilities"].size(), 5u);
  EXPECT_TRUE(json["log_probabilities"][1].is_null());
  double sum = 0;
  for (const int place : {0, 2, 4}) sum += json["log_probabilities"][place].get<double>();
  EXPECT_NEAR(json["log_probability"].get<double>(), sum, 1e-6);
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp(-sum / 3), 1e-3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("leave out 2 symbols in 1 line, line 2 first"),
                                HasSubstr("'<unk>' (2)"), HasSubstr("2 lines, 5 symbols"),
                                Not(HasSubstr("inf"))));
}

TEST_F(ScoreModelCommand, SaysWhatIsWrong) {
  tessera::test::write_tiny_model(folder_ / "diffusion");
  const auto kind = run("--device cpu score-model diffusion --src source --tgt target");
  EXPECT_EQ(kind.status, 1);
  EXPECT_THAT(kind.err, HasSubstr("is a model of kind 'diffusion'"));
  write("short", "x\n");
  EXPECT_EQ(run("--device cpu score-model model --src source --tgt short").status, 1);
  EXPECT_EQ(run("--device cpu score-model model --src source --tgt nothing").status, 1);
  EXPECT_EQ(run("--device cpu score-model model --src source").status, 2);
}

}  // namespace
