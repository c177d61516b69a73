#include <tessera/evaluation/text_evaluation.h>

#include "corpus/corpus.h"
#include "evaluation/made_corpus.h"
#include "evaluation/one_step.h"
#include "seq2seq/tiny_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "text_metric/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

using testing::HasSubstr;

using Lines = std::vector<std::string>;

const Lines kSources{"a b c d e", "f g h", "x", "m n o p", "q r s"};
const Lines kReferences{"a b c d", "f g h i", "x y", "m n o p", "q r t"};

class TextEvaluationTest : public testing::Test {
 protected:
  TextEvaluationTest() {
    test::write_tiny_model(folder_ / "model");
    test::write_tiny_model(folder_ / "ar", test::tiny_autoregressive());
    test::write_tiny_model(folder_ / "symbols", *test::tiny_symbols());
    write_corpus("corpus", test::tiny_tokenizer());
  }

  void write_corpus(const std::string& name, const text::Tokenizer& tokenizer) const {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (size_t k = 0; k < kSources.size(); ++k) pairs.emplace_back(kSources[k], kReferences[k]);
    test::write_made_corpus(folder_ / name, tokenizer, pairs);
  }

  Engine engine(const std::string& name = "model") const {
    return Engine(folder_ / name, {.device = "cpu"});
  }
  CorpusPart part() const { return {.folder = folder_ / "corpus"}; }

  // What the engine makes of the sources.
  static std::vector<TextResult> results_of(const Engine& engine, const GenerateOptions& options) {
    std::vector<TextRequest> requests;
    for (const std::string& source : kSources)
      requests.push_back({.text = source, .seed = 7, .options = options});
    return engine.run(requests);
  }

  test::TemporaryFolder folder_;
};

TEST_F(TextEvaluationTest, ScoresWhatTheEngineWrites) {
  const Engine model = engine();
  const GenerateOptions generation{.steps = 3, .candidates = "2x2"};
  const auto results = results_of(model, generation);
  int64_t done = 0;
  const TextEvaluation found = evaluate_texts(model, kSources, kReferences,
                                              {.generation = generation,
                                               .seed = 7,
                                               .scores = {.metrics = {"bleu", "chrf"}},
                                               .progress = [&](int64_t more) { done += more; }});
  ASSERT_EQ(found.texts.size(), 5u);
  for (size_t k = 0; k < results.size(); ++k) EXPECT_EQ(found.texts[k], results[k].text);
  EXPECT_EQ(found.sources, kSources);
  EXPECT_EQ(found.references, kReferences);
  EXPECT_EQ(done, 5) << "the warm-up is not counted";
  const auto scores = score_texts(found.texts, std::vector<Lines>{kReferences},
                                  {.metrics = {"bleu", "chrf"}, .tokenization = "none"});
  ASSERT_EQ(found.scores.size(), 2u);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(found.scores[k].score, scores[k].score);
    EXPECT_EQ(found.scores[k].signature, scores[k].signature) << "words stand between blanks";
  }
  EXPECT_EQ(found.nfe, results[0].nfe);
  EXPECT_EQ(found.passes, 4 * results[0].nfe);
  EXPECT_EQ(found.kind, "diffusion");
  EXPECT_EQ(found.options.steps, 3);
  EXPECT_THAT(found.effort, HasSubstr("2 lengths x 2 noises"));
  EXPECT_GT(found.seconds, 0);
  EXPECT_NEAR(found.texts_per_second(), 5 / found.seconds, 1e-9);
}

TEST_F(TextEvaluationTest, WhatAModelWritesIsAllRightAgainstItself) {
  const Engine model = engine();
  const Lines written = evaluate_texts(model, kSources, kReferences, {.warm_up = false}).texts;
  Lines half = written;
  half[0] += " z z";
  const TextEvaluation found =
      evaluate_texts(model, kSources, written, {.scores = {.compare_with = half, .samples = 20}});
  EXPECT_EQ(found.exact_match, 100);
  EXPECT_NEAR(found.scores[0].score, 100, 1e-9);
  ASSERT_TRUE(found.scores[0].comparison);
  EXPECT_GT(found.scores[0].comparison->result.difference, 0);
  EXPECT_NEAR(evaluate_texts(model, kSources, half, {.warm_up = false}).exact_match, 80, 1e-9);
}

TEST_F(TextEvaluationTest, APartOfACorpusIsItsLines) {
  const Engine model = engine();
  const TextEvaluationOptions options{.reference_lengths = true, .one_step = true};
  const TextEvaluation lines = evaluate_texts(model, kSources, kReferences, options);
  // Another tokenizer, whose ids are not those of the model.
  text::Dictionary backwards;
  for (char letter = 'z'; letter >= 'a'; --letter) backwards.add(std::string(1, letter), 100);
  write_corpus("other", text::Tokenizer::words(backwards, /*raw=*/false));
  for (const char* name : {"corpus", "other"}) {
    const TextEvaluation found = evaluate_texts(model, {.folder = folder_ / name}, options);
    EXPECT_EQ(found.texts, lines.texts) << name;
    EXPECT_EQ(found.references, kReferences) << name;
    EXPECT_EQ(found.scores[0].score, lines.scores[0].score) << name;
    EXPECT_EQ(found.one_step->x0_error, lines.one_step->x0_error) << name;
  }
  CorpusPart first = part();
  first.limit = 2;
  EXPECT_EQ(evaluate_texts(model, first, options).texts,
            Lines(lines.texts.begin(), lines.texts.begin() + 2));
}

TEST_F(TextEvaluationTest, TheBestChoiceIsTheClosestCandidate) {
  const Engine model = engine();
  const GenerateOptions generation{.candidates = "3x2"};
  const TextEvaluation found = evaluate_texts(
      model, part(), {.generation = generation, .seed = 7, .oracle = true, .warm_up = false});
  Lines chosen;
  const auto results = results_of(model, generation);
  for (size_t k = 0; k < results.size(); ++k) {
    const std::string_view reference = kReferences[k];
    const auto closeness = [&](const TextResult::Candidate& candidate) {
      return text_metric::sentence_bleu(candidate.text, std::span(&reference, 1),
                                        {.tokenization = text_metric::Tokenization::none})
          .score;
    };
    chosen.push_back(std::ranges::max(results[k].candidates, {}, closeness).text);
  }
  const auto best = score_texts(chosen, std::vector<Lines>{kReferences}, {.tokenization = "none"});
  ASSERT_EQ(found.oracle.size(), 1u);
  EXPECT_EQ(found.oracle[0].score, best[0].score);
  EXPECT_GE(found.oracle[0].score, found.scores[0].score);
}

TEST_F(TextEvaluationTest, SingleStepsAreThoseOfTheSplit) {
  const TextEvaluation found = evaluate_texts(
      engine(), part(), {.generation = {.estimate = "mean"}, .seed = 9, .one_step = true});
  const corpus::Corpus corpus = corpus::Corpus::open(folder_ / "corpus");
  const OneStep expected = evaluation::measure_one_step(test::tiny_model(), corpus.split("test"),
                                                        8000, 9, Estimate::mean);
  ASSERT_TRUE(found.one_step);
  EXPECT_EQ(found.one_step->tokens, 4 + 4 + 2 + 4 + 3 + 5);
  EXPECT_NEAR(found.one_step->x0_error, expected.x0_error, 1e-9);
  EXPECT_NEAR(found.one_step->accuracy, expected.accuracy, 1e-9);
}

TEST_F(TextEvaluationTest, BoundsTheLikelihoodOfReferences) {
  const Engine model = engine("symbols");
  const TextEvaluationOptions options{
      .generation = {.steps = 1, .candidates = "1"}, .bound_draws = 100, .warm_up = false};
  const auto bound = evaluate_texts(model, kSources, kReferences, options).bound;
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->draws, 100);
  EXPECT_EQ(bound->tokens, 4 + 4 + 2 + 4 + 3 + 5) << "with end symbols";
  // Random weights know nothing: the bound is about log 27, for 27 symbols, or worse.
  EXPECT_GT(bound->nats, std::log(27) - 0.5);
  EXPECT_LT(bound->nats, 3 * std::log(27));
  EXPECT_DOUBLE_EQ(bound->perplexity(), std::exp(bound->nats));
  EXPECT_EQ(evaluate_texts(model, part(), options).bound->nats, bound->nats);
  EXPECT_FALSE(evaluate_texts(model, kSources, kReferences, {}).bound);
  EXPECT_THAT(
      test::complaint([&] { evaluate_texts(engine(), kSources, kReferences, {.bound_draws = 1}); }),
      HasSubstr("kind 'symbols'"));
}

TEST_F(TextEvaluationTest, ReferencesGiveTheirLengths) {
  const TextEvaluation found =
      evaluate_texts(engine(), part(), {.reference_lengths = true, .warm_up = false});
  for (size_t k = 0; k < found.texts.size(); ++k)
    EXPECT_LE(found.texts[k].size(), kReferences[k].size() + 2) << "at most one word more";
}

TEST_F(TextEvaluationTest, MeasuresAModelThatWritesFromLeftToRight) {
  const TextEvaluation found = evaluate_texts(engine("ar"), part(), {.generation = {.beam = 3}});
  EXPECT_EQ(found.kind, "ar");
  EXPECT_EQ(found.effort, "beam 3");
  EXPECT_EQ(found.options.beam, 3);
  EXPECT_THROW(evaluate_texts(engine("ar"), part(), {.reference_lengths = true}), UsageError);
  EXPECT_THROW(evaluate_texts(engine("ar"), part(), {.one_step = true}), UsageError);
}

TEST_F(TextEvaluationTest, WritesAProfileWhereAsked) {
  const TextEvaluation found =
      evaluate_texts(engine(), part(), {.warm_up = false, .profile = folder_ / "trace.json"});
  EXPECT_FALSE(found.profile.empty());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "trace.json"));
}

TEST_F(TextEvaluationTest, SaysWhatIsWrongBeforeTheWork) {
  const Engine model = engine();
  const Lines one{"a"};
  EXPECT_THROW(evaluate_texts(model, kSources, one), Error);
  EXPECT_THROW(evaluate_texts(model, Lines(), Lines()), Error);
  EXPECT_THROW(evaluate_texts(model, part(), {.scores = {.metrics = {"luck"}}}), UsageError);
  EXPECT_THROW(evaluate_texts(model, part(), {.scores = {.compare_with = one}}), Error);
  EXPECT_THROW(evaluate_texts(model, part(), {.generation = {.beam = 3}}), UsageError);
  EXPECT_THAT(test::complaint([&] {
                evaluate_texts(model, {folder_ / "corpus", "dev"});
              }),
              HasSubstr("dev"));
}

TEST_F(TextEvaluationTest, EndsWhereItIsStopped) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(
      test::complaint([&] { evaluate_texts(engine(), part(), {.stop = stop.get_token()}); }),
      HasSubstr("stopped"));
}

}  // namespace
}  // namespace tessera
