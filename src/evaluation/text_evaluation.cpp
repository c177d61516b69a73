#include <tessera/evaluation/text_evaluation.h>

#include "base/require.h"
#include "corpus/corpus.h"
#include "engine/text_engine.h"
#include "evaluation/likelihood_bound.h"
#include "evaluation/one_step.h"
#include "evaluation/score_settings.h"
#include "files/files.h"
#include "tensor/profiler.h"
#include "text_metric/exact_match.h"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;
using Symbols = std::vector<std::vector<text::Id>>;

constexpr int64_t kOneStepTokens = 8000;  // of a batch

struct Pairs {
  Lines sources, references;
  Symbols source_symbols, reference_symbols;  // with end symbols; of references only if needed
};

bool needs_reference_symbols(const TextEvaluationOptions& options) {
  return options.reference_lengths || options.one_step || options.bound_draws > 0;
}

Symbols symbols_of(const Engine& engine, const Lines& lines) {
  Symbols symbols;
  for (const std::string& line : lines) symbols.push_back(engine.symbols_of(line));
  return symbols;
}

void add_symbols(Pairs& pairs, const Engine& engine, const TextEvaluationOptions& options) {
  pairs.source_symbols = symbols_of(engine, pairs.sources);
  if (needs_reference_symbols(options))
    pairs.reference_symbols = symbols_of(engine, pairs.references);
}

// Whether the tokenizers in two folders make the same symbols from a text.
bool same_tokenizer(const fs::path& one, const fs::path& other) {
  for (const char* name : {"tokenizer.json", "dict.txt", "codes.bpe"}) {
    const bool there = fs::exists(one / name);
    if (there != fs::exists(other / name)) return false;
    if (there && read_file(one / name) != read_file(other / name)) return false;
  }
  return true;
}

Pairs read_pairs(const Engine& engine, const CorpusPart& part,
                 const TextEvaluationOptions& options) {
  const corpus::Corpus corpus = corpus::Corpus::open(part.folder);
  const corpus::Split& split = corpus.split(part.split);
  Pairs pairs{split.source_lines(), split.target_lines(), {}, {}};
  require(!pairs.sources.empty(), "the split '{}' has no sentences", part.split);
  if (part.limit > 0 && part.limit < split.size()) {
    pairs.sources.resize(static_cast<size_t>(part.limit));
    pairs.references.resize(static_cast<size_t>(part.limit));
  }
  if (!same_tokenizer(part.folder, engine.folder())) {
    add_symbols(pairs, engine, options);
    return pairs;
  }
  const auto copied = [](std::span<const text::Id> ids) {
    return std::vector<text::Id>(ids.begin(), ids.end());
  };
  for (int64_t k = 0; k < std::ssize(pairs.sources); ++k) {
    pairs.source_symbols.push_back(copied(split.source(k)));
    if (needs_reference_symbols(options))
      pairs.reference_symbols.push_back(copied(split.target(k)));
  }
  return pairs;
}

std::vector<TextResult> run(const Engine& engine, const std::vector<TextRequest>& requests,
                            const std::function<void(int64_t)>& progress = {}) {
  std::vector<TextResult> results = engine.run(requests, progress);
  for (const TextResult& result : results) result.require_done();
  return results;
}

// All texts in few steps, so that libraries are loaded, kernels chosen and memory taken for every
// shape before the clock runs.
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

// Generates texts and measures the time; `results` also has their candidates.
void generate(TextEvaluation& found, std::vector<TextResult>& results, const Engine& engine,
              const Pairs& pairs, const TextEvaluationOptions& options) {
  std::vector<TextRequest> requests;
  for (size_t k = 0; k < pairs.sources.size(); ++k) {
    TextRequest& request = requests.emplace_back();
    request.symbols = pairs.source_symbols[k];
    request.seed = options.seed;
    request.options = options.generation;
    request.stop = options.stop;
    request.line = static_cast<int64_t>(k);
    request.candidate_texts = false;
    if (options.reference_lengths) request.target_length = std::ssize(pairs.reference_symbols[k]);
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

OneStep single_steps(const seq2seq::Seq2Seq& model, const Pairs& pairs,
                     const TextEvaluationOptions& options, Estimate estimate) {
  const corpus::Split split(corpus::Sentences::copy_of(pairs.source_symbols),
                            corpus::Sentences::copy_of(pairs.reference_symbols));
  return evaluation::measure_one_step(model, split, kOneStepTokens, options.seed, estimate,
                                      options.stop);
}

LikelihoodBound bound_of(const seq2seq::Seq2Seq& model, const Pairs& pairs,
                         const TextEvaluationOptions& options) {
  const corpus::Split split(corpus::Sentences::copy_of(pairs.source_symbols),
                            corpus::Sentences::copy_of(pairs.reference_symbols));
  return evaluation::measure_bound(model, split, options.bound_draws, kOneStepTokens, options.seed,
                                   options.stop);
}

void check(const Engine& engine, const TextEvaluationOptions& options) {
  const seq2seq::Seq2Seq& model = engine.text().model();
  const Family* const family = model.family();
  require_option(!options.reference_lengths || family != nullptr,
                 "reference_lengths is not for models of kind '{}'", name_of(model.options().kind));
  require_option(!options.one_step || (family != nullptr && family->process() != nullptr),
                 "one_step is for models of kind 'diffusion'");
  require_option(options.bound_draws >= 0, "bound_draws must be 0 or more, got {}",
                 options.bound_draws);
  require_option(options.bound_draws == 0 || (family != nullptr && family->has_bound()),
                 "bound_draws is for models of kind 'symbols'");
}

TextEvaluation evaluate(const Engine& engine, Pairs pairs, const TextEvaluationOptions& options) {
  const engine::TextEngine& text = engine.text();
  const seq2seq::GenerationOptions generation = text.resolved(options.generation);
  TextScoreOptions scoring = options.scores;
  if (!scoring.tokenization)
    scoring.tokenization = name_of(text_metric::usual_tokenization(text.tokenizer().raw()));
  const evaluation::ScoreSettings settings(scoring);
  const size_t other = scoring.compare_with.size();
  require(other == 0 || other == pairs.sources.size(), "there are {} texts to compare with {}",
          other, pairs.sources.size());

  TextEvaluation found;
  found.kind = name_of(text.model().options().kind);
  found.options = engine.in_effect(options.generation);
  found.effort = text.model().effort(generation);
  std::vector<TextResult> results;
  generate(found, results, engine, pairs, options);

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
  if (options.one_step)
    found.one_step = single_steps(text.model(), pairs, options, generation.sampler.estimate);
  if (options.bound_draws > 0) found.bound = bound_of(text.model(), pairs, options);
  found.sources = std::move(pairs.sources);
  found.references = std::move(pairs.references);
  return found;
}

}  // namespace

TextEvaluation evaluate_texts(const Engine& engine, std::span<const std::string> sources,
                              std::span<const std::string> references,
                              const TextEvaluationOptions& options) {
  check(engine, options);
  require(sources.size() == references.size(), "there are {} sources and {} references",
          sources.size(), references.size());
  require(!sources.empty(), "there are no texts to measure a model with");
  Pairs pairs{{sources.begin(), sources.end()}, {references.begin(), references.end()}, {}, {}};
  add_symbols(pairs, engine, options);
  return evaluate(engine, std::move(pairs), options);
}

TextEvaluation evaluate_texts(const Engine& engine, const CorpusPart& part,
                              const TextEvaluationOptions& options) {
  check(engine, options);
  return evaluate(engine, read_pairs(engine, part, options), options);
}

}  // namespace tessera
