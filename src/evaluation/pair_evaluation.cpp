#include "evaluation/pair_evaluation.h"

#include "base/require.h"
#include "engine/text_engine.h"
#include "evaluation/likelihood_bound.h"
#include "evaluation/one_step.h"
#include "evaluation/score_settings.h"
#include "tensor/profiler.h"
#include "text_metric/exact_match.h"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace tessera::evaluation {
namespace {

using Lines = std::vector<std::string>;

constexpr int64_t kBatchTokens = 8000;  // of what is measured beside generation

std::vector<TextResult> run(const Engine& engine, const std::vector<TextRequest>& requests,
                            const std::function<void(int64_t)>& progress = {}) {
  std::vector<TextResult> results = engine.run(requests, progress);
  for (const TextResult& result : results) result.require_done();
  return results;
}

// All texts in few steps, so that before the clock runs libraries are loaded, kernels chosen and
// memory taken for every shape.
//   options  in effect
void warm_up(const Engine& engine, const GenerateOptions& options,
             std::vector<TextRequest> requests) {
  for (TextRequest& request : requests) {
    if (options.steps) request.options.steps = std::min<int64_t>(*options.steps, 2);
    if (options.selection->starts_with(engine::kRerank)) request.options.selection.reset();
    request.target_length.reset();
  }
  run(engine, requests);
}

// The candidate that comes closest to the reference, by sentence BLEU.
std::string closest(const std::vector<TextResult::Candidate>& candidates,
                    const std::string& reference, const text_metric::BleuOptions& options,
                    const text::Tokenizer& tokenizer) {
  const std::string_view view = reference;
  std::string best;
  double highest = -1;
  for (const TextResult::Candidate& candidate : candidates) {
    std::string line = tokenizer.decode(candidate.symbols);
    const double score = text_metric::sentence_bleu(line, std::span(&view, 1), options).score;
    if (score > highest) std::tie(best, highest) = std::pair(std::move(line), score);
  }
  return best;
}

// Generates texts and says how fast; `results` also has their candidates.
void generate(TextEvaluation& found, std::vector<TextResult>& results, const Engine& engine,
              const SymbolPairs& pairs, const TextEvaluationOptions& options) {
  std::vector<TextRequest> requests;
  for (size_t k = 0; k < pairs.sources.size(); ++k) {
    TextRequest& request = requests.emplace_back();
    request.symbols = pairs.sources[k];
    request.seed = options.seed;
    request.options = options.generation;
    request.stop = options.stop;
    request.line = static_cast<int64_t>(k);
    request.candidate_texts = false;
    if (options.reference_lengths) request.target_length = std::ssize(pairs.references[k]);
  }
  if (options.warm_up) warm_up(engine, found.options, requests);
  const auto began = std::chrono::steady_clock::now();
  results = run(engine, requests, options.progress);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!options.profile.empty()) {
    Profiler profiler(engine.text().model().device());
    run(engine, requests);
    found.profile = profiler.finish(options.profile).table();
  }
  for (const TextResult& result : results) {
    found.texts.push_back(result.text);
    found.nfe = std::max(found.nfe, result.nfe);
    found.passes = std::max(found.passes, result.nfe * std::ssize(result.candidates));
  }
}

}  // namespace

void check_options(const TextEvaluationOptions& options, const Engine& engine,
                   engine::Spelling spelling) {
  const auto name = [&](const char* field, const char* flag) {
    return spelling == engine::Spelling::flag ? flag : field;
  };
  const seq2seq::Seq2Seq& model = engine.text().model();
  const Family* const family = model.family();
  require_option(!options.reference_lengths || family != nullptr,
                 "{} is not for models of kind '{}'", name("reference_lengths", "--length"),
                 name_of(model.options().kind));
  require_option(!options.one_step || (family != nullptr && family->process() != nullptr),
                 "{} is for models of kind 'diffusion'", name("one_step", "--one-step"));
  require_option(options.bound_draws >= 0, "{} must be 0 or more, got {}",
                 name("bound_draws", "--bound"), options.bound_draws);
  require_option(options.bound_draws == 0 || (family != nullptr && family->has_bound()),
                 "{} is for models of kind 'symbols'", name("bound_draws", "--bound"));
}

TextEvaluation evaluate_pairs(const Engine& engine, TextPairs pairs,
                              const TextEvaluationOptions& options) {
  const engine::TextEngine& text = engine.text();
  const seq2seq::GenerationOptions generation = text.resolved(options.generation);
  TextScoreOptions scoring = options.scores;
  if (!scoring.tokenization)
    scoring.tokenization = name_of(text_metric::usual_tokenization(text.tokenizer().raw()));
  const ScoreSettings settings(scoring);
  const size_t other = scoring.compare_with.size();
  require(other == 0 || other == pairs.sources.size(), "there are {} texts to compare with {}",
          other, pairs.sources.size());

  TextEvaluation found;
  found.kind = name_of(text.model().options().kind);
  found.options = engine.in_effect(options.generation);
  found.effort = text.model().effort(generation);
  std::vector<TextResult> results;
  const bool measures_steps = options.one_step || options.bound_draws > 0;
  const SymbolPairs symbols =
      SymbolPairs::of(pairs, engine, options.reference_lengths || measures_steps);
  generate(found, results, engine, symbols, options);

  const std::vector<Lines> references{pairs.references};
  found.scores = score_texts(found.texts, references, scoring);
  if (options.oracle) {
    Lines chosen;
    for (size_t k = 0; k < results.size(); ++k)
      chosen.push_back(
          closest(results[k].candidates, pairs.references[k], settings.bleu, text.tokenizer()));
    scoring.compare_with.clear();
    found.oracle = score_texts(chosen, references, scoring);
  }
  found.exact_match = text_metric::exact_match(found.texts, pairs.references);
  if (measures_steps) {
    const corpus::Split split = symbols.split();
    if (options.one_step)
      found.one_step = measure_one_step(text.model(), split, kBatchTokens, options.seed,
                                        generation.sampler.estimate, options.stop);
    if (options.bound_draws > 0)
      found.bound = measure_bound(text.model(), split, options.bound_draws, kBatchTokens,
                                  options.seed, options.stop);
  }
  found.sources = std::move(pairs.sources);
  found.references = std::move(pairs.references);
  return found;
}

}  // namespace tessera::evaluation
