#include "seq2seq/tiny_model.h"
#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

size_t count(const std::string& text, char c) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), c));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class GenerateCommand : public tessera::test::ProgramTest {
 protected:
  GenerateCommand() {
    tessera::test::write_tiny_model(folder_ / "model");
    write("in", "a b c d\n\nz y x\n");
  }

  Result generate(const std::string& arguments) const {
    return run("--device cpu generate model " + arguments);
  }
};

TEST_F(GenerateCommand, AnswersEveryLineWithALine) {
  const auto result = generate("<in");
  ASSERT_EQ(result.status, 0) << result.err;
  ASSERT_EQ(count(result.out, '\n'), 3u);
  EXPECT_EQ(lines_of(result.out)[1], "") << "an empty line stays empty";
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(generate("--input in").out, result.out);
  EXPECT_EQ(generate("--chunk 1 <in").out, result.out);
}

TEST_F(GenerateCommand, TakesEmptyInputAndALastLineWithoutItsEnd) {
  write("empty", "");
  const auto none = generate("<empty");
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_EQ(none.out, "");
  write("open", "a b c d\n\nz y x");
  EXPECT_EQ(generate("<open").out, generate("<in").out);
}

TEST_F(GenerateCommand, PrintsJsonWithAllCandidates) {
  const auto result = generate("--json --candidates 2x3 --steps 5 --seed 9 <in");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3u);
  const auto last = nlohmann::json::parse(lines[2]);
  EXPECT_EQ(last["line"], 3);
  EXPECT_EQ(last["source"], "z y x");
  EXPECT_EQ(last["nfe"], 5);
  ASSERT_EQ(last["candidates"].size(), 6u);
  EXPECT_EQ(last["text"], last["candidates"][last["chosen"].get<size_t>()]["text"]);
  EXPECT_LT(last["candidates"][0]["confidence"], 0);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["text"], "");
  EXPECT_NE(generate("--json --candidates 2x3 --steps 5 --seed 10 <in").out, result.out);
}

TEST_F(GenerateCommand, PrintsAnNBestList) {
  const auto result = generate("--nbest --candidates 4 <in");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 4u + 1u + 4u);
  EXPECT_THAT(result.out, HasSubstr("2 ||| "));
  EXPECT_THAT(result.out, HasSubstr(" ||| confidence= -"));
}

TEST_F(GenerateCommand, ShowsTheStepsOnStderr) {
  const auto result = generate("--show-steps --steps 5 <in");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, '\n'), 3u);
  EXPECT_THAT(result.err, HasSubstr(" 1/5      100    100 %"));
  EXPECT_THAT(result.err, HasSubstr(" 5/5       20"));
  for (const char* word : {"noisy point: ", "estimate: ", "changed: ", "outside: "})
    EXPECT_THAT(result.err, HasSubstr(word)) << "columns are explained";
  EXPECT_THAT(result.err, HasSubstr("step      t  changed  outside  noisy point"));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b["))) << "colours are for terminals";
  const std::string best = lines_of(result.out)[2];
  EXPECT_THAT(result.err, HasSubstr(best + "\n")) << "the last step is the result";
}

TEST_F(GenerateCommand, ShowsWhatWouldSteerTheTerminalInTheSteps) {
  write("odd", "a \x1b[31m b\n");
  const auto result = generate("--show-steps --steps 2 <odd");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a \\x1b[31m b\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
}

TEST_F(GenerateCommand, JsonHasTheStepsThatAreShown) {
  const auto result = generate("--json --show-steps --steps 5 <in");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto last = nlohmann::json::parse(lines_of(result.out)[2]);
  ASSERT_EQ(last["steps"].size(), 5u);
  EXPECT_EQ(last["steps"][0]["t"], 100);
  EXPECT_EQ(last["steps"][0]["changed"], 1);
  EXPECT_THAT(last["steps"][4]["estimate"].get<std::string>(),
              StartsWith(last["text"].get<std::string>()));
  EXPECT_NE(last["steps"][0]["point"], "");
  EXPECT_EQ(nlohmann::json::parse(lines_of(result.out)[1])["steps"].size(), 0u) << "an empty line";
  EXPECT_FALSE(nlohmann::json::parse(lines_of(generate("--json <in").out)[0]).contains("steps"));
}

TEST_F(GenerateCommand, KnowsItsSamplersAndLengths) {
  const auto nfe = [&](const std::string& arguments) {
    const auto result = generate("--json " + arguments + " <in");
    EXPECT_EQ(result.status, 0) << arguments << '\n' << result.err;
    const auto lines = lines_of(result.out);
    return lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines[0]);
  };
  EXPECT_EQ(nfe("--sampler gaussian --steps 6")["nfe"], 6);
  EXPECT_EQ(nfe("--sampler as-printed")["nfe"], 5);
  EXPECT_EQ(nfe("--sampler difformer --steps 40")["nfe"], 30);
  EXPECT_EQ(nfe("--length 7")["candidates"][0]["length"], 8);
  const int64_t predicted = nfe("")["candidates"][0]["length"];
  EXPECT_EQ(nfe("--length +2")["candidates"][0]["length"], std::min<int64_t>(predicted + 2, 40));
  EXPECT_EQ(nfe("--length -1")["candidates"][0]["length"], std::max<int64_t>(predicted - 1, 1));
  EXPECT_EQ(nfe("--r 0 --selection confidence --sampler deterministic")["nfe"], 4);
  const auto window = nfe("--candidates 3x1 --length-choice window")["candidates"];
  EXPECT_EQ(window[1]["length"].get<int64_t>() - window[2]["length"].get<int64_t>(), 2);
  const auto staged = nfe("--candidates 9x2 --length-choice draw --selection staged");
  EXPECT_TRUE(staged["candidates"][staged["chosen"].get<size_t>()].contains("staged"));
}

TEST_F(GenerateCommand, ComputesInThePrecisionItIsTold) {
  const auto confidence = [&](const std::string& arguments) {
    const auto result = generate("--json " + arguments + " <in");
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(lines_of(result.out).at(0))["candidates"][0]["confidence"]
        .get<double>();
  };
  const double precise = confidence("--precision float32");
  EXPECT_EQ(confidence(""), precise);  // the default on the CPU
  EXPECT_NE(confidence("--precision bfloat16"), precise);
  const double rounded = confidence("--precision int8");
  EXPECT_NE(rounded, precise);
  EXPECT_NEAR(rounded, precise, 0.1);
}

TEST_F(GenerateCommand, IsTimedByPrecisionAndWork) {
  const auto result =
      run("--json --device cpu bench generate model --input in --precision float32,int8 --length 5 "
          "--singles 1 --repeats 2");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto rows = nlohmann::json::parse(result.out)["rows"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["precision"], "float32");
  EXPECT_EQ(rows[3]["preset"], "balanced");
  for (const auto& row : rows) {
    EXPECT_GT(row["sentences_per_second"], 0.0);
    EXPECT_EQ(row["all_sentences_per_second"].size(), 2u);
    EXPECT_LE(row["p50_ms"], row["p99_ms"]);
    EXPECT_EQ(row["texts"].size(), lines_of(generate("<in").out).size());
  }
  EXPECT_THAT(run("--device cpu bench generate model --input in --repeats 1 --preset fast").out,
              testing::ContainsRegex("int8 +fast +[0-9.]+ +[0-9.]+ ms"));
  EXPECT_EQ(run("bench generate model --input in --preset quick").status, 2);
  EXPECT_EQ(run("bench generate model --input nowhere").status, 1);
}

TEST_F(GenerateCommand, EndsWithTwoForWrongUsage) {
  for (const char* arguments :
       {"--sampler magic", "--candidates 2x", "--length long", "--length 40", "--selection luck",
        "--length-choice luck", "--steps 101", "--precision float16", "--r 2", "--checkpoint best",
        "--nbest --json"}) {
    const auto result = generate(std::string(arguments) + " <in");
    EXPECT_EQ(result.status, 2) << arguments << '\n' << result.err;
    EXPECT_EQ(result.out, "") << arguments;
  }
  EXPECT_EQ(run("generate <in").status, 2);
}

TEST_F(GenerateCommand, EndsWithOneForFoldersThatAreMissingOrBroken) {
  EXPECT_EQ(run("generate nowhere <in").status, 1);
  EXPECT_EQ(run("generate . <in").status, 1);
  std::filesystem::resize_file(folder_ / "model/model.safetensors", 50);
  const auto broken = generate("<in");
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.err, HasSubstr("model.safetensors"));
  EXPECT_EQ(generate("--input missing").status, 1);
}

TEST_F(GenerateCommand, KeepsWhatItMadeBeforeABadLine) {
  write("bad", std::string("a b c d\n\nz \xff x\na\n"));
  const auto result = generate("<bad");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr(":3"));
  EXPECT_EQ(count(result.out, '\n'), 2u);
  EXPECT_EQ(result.out, generate("<in").out.substr(0, result.out.size()));

  write("nul", std::string("a b\n\0 x\n", 8));
  const auto nul = generate("<nul");
  EXPECT_EQ(nul.status, 1);
  EXPECT_THAT(nul.err, HasSubstr(":2"));
  EXPECT_EQ(count(nul.out, '\n'), 1u);

  const auto replaced = generate("--replace-invalid <bad");
  EXPECT_EQ(replaced.status, 0) << replaced.err;
  EXPECT_EQ(count(replaced.out, '\n'), 4u);
}

TEST_F(GenerateCommand, WarnsOnceOfColumns) {
  write("tsv", "a b\n\tc\t\nd e\tf g\nx\ty\n");
  const auto result = generate("--chunk 3 <tsv");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(
      result.err,
      HasSubstr("1 line has a tab between words (the first is line 3; 3 lines read so far)"));
  EXPECT_THAT(result.err, HasSubstr("cut -f1"));
  EXPECT_EQ(result.err.find("a tab"), result.err.rfind("a tab"));
  EXPECT_EQ(count(result.out, '\n'), 4u);
}

TEST_F(GenerateCommand, RefusesOptionsThatDoNotFitTheModel) {
  tessera::test::write_tiny_model(folder_ / "ar", tessera::test::tiny_autoregressive());
  for (const char* option : {"--steps 2", "--preset fast", "--estimate mean", "--selection mbr"})
    EXPECT_EQ(run(std::string("--device cpu generate ar <in ") + option).status, 2) << option;
  EXPECT_EQ(run("--device cpu generate ar --temperature 1 --selection mbr <in").status, 0);
  for (const char* option :
       {"--beam 2", "--temperature 1", "--top-k 3", "--length-penalty 1", "--selection rerank"})
    EXPECT_EQ(generate(std::string("<in ") + option).status, 2) << option;
}

TEST_F(GenerateCommand, ReadsALineOfTenThousandSymbols) {
  std::string line;
  for (int k = 0; k < 10000; ++k) line += "a ";
  write("long", "b\n" + line + "\nc\n");
  const auto result = generate("<long");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, '\n'), 3u);
  EXPECT_THAT(result.err, HasSubstr("line 2: 10000 symbols"));
}

TEST_F(GenerateCommand, ResultsDoNotDependOnTheLinesAround) {
  std::string many;
  for (int k = 0; k < 50; ++k)
    many += std::string("a b c d e f g h ").substr(0, 2 + 2 * (k % 8)) + "\n";
  write("many", many);
  const auto whole = lines_of(generate("<many").out);
  EXPECT_EQ(lines_of(generate("--batch-tokens 1 <many").out), whole);
  EXPECT_EQ(lines_of(generate("--show-steps <many").out), whole) << "one line at a time";
}

TEST_F(GenerateCommand, EqualLinesHaveEqualNoiseUnlessToldOtherwise) {
  write("twice", "a b c d\nz y\na b c d\n");
  write("once", "a b c d\n");
  const std::string how = "--json --sampler gaussian --candidates 4 ";
  const auto confidences = [&](const std::string& arguments) {
    std::vector<double> found;
    for (const std::string& line : lines_of(generate(how + arguments).out))
      found.push_back(nlohmann::json::parse(line)["candidates"][0]["confidence"].get<double>());
    return found;
  };
  const auto texts = confidences("<twice"), lines = confidences("--noise lines <twice");
  ASSERT_EQ(texts.size(), 3u);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NEAR(texts[0], texts[2], 1e-5);
  EXPECT_NEAR(texts[0], confidences("<once").at(0), 1e-5);
  EXPECT_GT(std::abs(lines[0] - lines[2]), 1e-4);
  EXPECT_NEAR(lines[0], texts[0], 1e-5) << "the first line is number 0";
  EXPECT_NEAR(confidences("--noise lines --chunk 1 <twice").at(2), lines[2], 1e-5);
  EXPECT_EQ(generate("--noise words <once").status, 2);
}

}  // namespace
