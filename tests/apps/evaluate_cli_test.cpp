#include "corpus/corpus_writer.h"
#include "seq2seq/tiny_model.h"
#include "support/program.h"
#include "train/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

namespace {

using testing::HasSubstr;

class EvaluateCommand : public tessera::test::ProgramTest {
 protected:
  EvaluateCommand() {
    const auto tokenizer = tessera::test::tiny_tokenizer();
    tessera::corpus::CorpusWriter corpus(folder_ / "corpus", tokenizer);
    for (const char* split : {"train", "test"}) {
      corpus.begin_split(split);
      for (const char* line : {"a b c d e", "f g h", "x", "m n o p", "q r s"})
        corpus.add(line, line, tokenizer.encode(line), tokenizer.encode(line));
    }
    corpus.commit({});
    std::filesystem::create_directories(folder_ / "run");
    write("run/config.toml", "[data]\ndir = \"corpus\"\n");
    tessera::train::Checkpoints checkpoints(folder_ / "run", tessera::train::RetentionOptions{});
    for (const int64_t step : {10, 20})
      checkpoints.save(step, [](const auto& folder) { tessera::test::write_tiny_model(folder); });
  }

  Result evaluate(const std::string& arguments) const {
    return run("--device cpu evaluate run " + arguments);
  }
};

TEST_F(EvaluateCommand, PrintsScoresWithTheirSignatureAndTheSpeed) {
  const auto result = evaluate("--split test --metric bleu,chrf,rouge");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|"));
  for (const char* part :
       {"BP = ", "ratio = ", "hyp_len = ", "ref_len = 16", "chrF2|", "ROUGE-L|", "exact match ",
        "5 sentences in ", " sentences/s (NFE 4, 1 length x 3 noises"})
    EXPECT_THAT(result.out, HasSubstr(part));
}

TEST_F(EvaluateCommand, PrintsJsonAndWritesTheSentences) {
  const auto result = evaluate("--json --limit 3 --out hyp --checkpoint 10 --steps 3");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["sentences"], 3);
  EXPECT_EQ(report["nfe"], 3);
  EXPECT_EQ(report["metrics"][0]["name"], "BLEU");
  EXPECT_EQ(report["metrics"][0]["precisions"].size(), 4u);
  EXPECT_GT(report["sentences_per_second"], 0);
  write("in", "a b c d e\nf g h\nx\n");
  EXPECT_EQ(tessera::test::file_text(folder_ / "hyp"),
            run("--device cpu generate run --checkpoint 10 --steps 3 <in").out)
      << "evaluate and generate make the same sentences";
}

TEST_F(EvaluateCommand, WritesSourcesAndReferencesIntoAFileOfLinesOfJson) {
  ASSERT_EQ(evaluate("--limit 3 --out hyp --steps 3").status, 0);
  ASSERT_EQ(evaluate("--limit 3 --out sentences.jsonl --steps 3").status, 0);
  std::istringstream plain(tessera::test::file_text(folder_ / "hyp")),
      json(tessera::test::file_text(folder_ / "sentences.jsonl"));
  int count = 0;
  for (std::string text, line; std::getline(plain, text) && std::getline(json, line); ++count) {
    const auto sentence = nlohmann::json::parse(line);
    EXPECT_EQ(sentence["generated"], text);
    EXPECT_NE(sentence["source"], "");
    EXPECT_NE(sentence["reference"], "");
  }
  EXPECT_EQ(count, 3);
}

TEST_F(EvaluateCommand, ComparesWithAnotherSystem) {
  write("other", "a b c d e\nf g h\nx\nm n o p\nq r s\n");
  const auto result = evaluate("--json --compare other --samples 50");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto comparison = nlohmann::json::parse(result.out)["metrics"][0]["comparison"];
  EXPECT_LE(comparison["difference"], 0);
  EXPECT_THAT(comparison["signature"].get<std::string>(), HasSubstr("bs:50"));
  EXPECT_THAT(evaluate("--compare other").out, HasSubstr("against other"));
  write("short", "a\n");
  EXPECT_EQ(evaluate("--compare short").status, 1);
}

TEST_F(EvaluateCommand, NamesWhatIsMissing) {
  const auto split = evaluate("--split dev");
  EXPECT_EQ(split.status, 1);
  EXPECT_THAT(split.err, HasSubstr("dev"));
  EXPECT_EQ(evaluate("--data nowhere").status, 1);
  EXPECT_EQ(evaluate("--checkpoint 30").status, 1);
  EXPECT_EQ(run("evaluate nowhere").status, 1);
  EXPECT_EQ(run("--device cpu evaluate run/last").status, 2) << "a model alone has no corpus";
  EXPECT_EQ(run("--device cpu evaluate run/last --data corpus").status, 0);
  EXPECT_EQ(evaluate("--metric luck").status, 2);
}

TEST_F(EvaluateCommand, LetsAnotherModelChooseAndSaysWhatTheBestChoiceWouldBe) {
  tessera::test::write_tiny_model(folder_ / "judge", tessera::test::tiny_autoregressive());
  const auto result = evaluate("--json --candidates 3x2 --selection rerank=judge --oracle");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["selection"], "rerank");
  const auto& bleu = report["metrics"][0];
  EXPECT_GE(bleu["oracle"]["score"].get<double>(), bleu["score"].get<double>());
  EXPECT_THAT(evaluate("--oracle").out, HasSubstr("best candidates: BLEU|"));
  for (const char* judge : {"rerank=run", "rerank=nothing"})
    EXPECT_EQ(evaluate(std::string("--selection ") + judge).status, 1) << judge;
  EXPECT_EQ(evaluate("--selection rerank").status, 2);
}

TEST_F(EvaluateCommand, TakesTheLengthsOfTheReferences) {
  const auto result = run("--device cpu evaluate run --length oracle --out hyp");
  ASSERT_EQ(result.status, 0) << result.err;
  // Outputs end at the first end symbol, so they may be shorter, never longer.
  std::istringstream lines(tessera::test::file_text(folder_ / "hyp"));
  for (const size_t words : {5, 3, 1, 4, 3}) {
    std::string line;
    std::getline(lines, line);
    std::istringstream symbols(line);
    size_t count = 0;
    for (std::string word; symbols >> word;) ++count;
    EXPECT_LE(count, words + 1) << line;
  }
  EXPECT_EQ(run("--device cpu generate run --length oracle </dev/null").status, 2);
}

TEST_F(EvaluateCommand, MeasuresSingleSteps) {
  const auto result = evaluate("--json --one-step");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto step = nlohmann::json::parse(result.out)["one_step"];
  EXPECT_EQ(step["tokens"], 21);
  EXPECT_GT(step["x0_error"], 0);
  EXPECT_THAT(evaluate("--one-step").out, HasSubstr("in the right cell"));
  EXPECT_EQ(evaluate("--one-step --limit 3").status, 2);
}

TEST_F(EvaluateCommand, MeasuresAnAutoregressiveModelToo) {
  tessera::test::write_tiny_model(folder_ / "ar", tessera::test::tiny_autoregressive());
  const auto result = run("--device cpu evaluate ar --data corpus --beam 3");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("beam 3)"));
  EXPECT_THAT(run("--device cpu evaluate ar --data corpus --beam 1").out, HasSubstr("greedy)"));
  for (const char* option : {"--steps 3", "--r 1", "--length oracle", "--length-choice draw",
                             "--selection staged", "--one-step"})
    EXPECT_EQ(run(std::string("--device cpu evaluate ar --data corpus ") + option).status, 2)
        << option;
  EXPECT_EQ(evaluate("--beam 3").status, 2);
}

TEST_F(EvaluateCommand, ADamagedConfigurationIsTheFoldersFault) {
  write("run/config.toml", "[data]\ndri = \"corpus\"\n");
  EXPECT_EQ(evaluate("").status, 1);
}

}  // namespace
