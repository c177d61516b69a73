#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/engine.h>
#include <tessera/evaluation/text_scores.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace tessera {

// How a model of text is measured.
struct TextEvaluationOptions {
  GenerateOptions generation = {};
  uint64_t seed = 1;               // of generation and of single steps
  bool reference_lengths = false;  // of diffusion models: texts get the lengths of the references
  TextScoreOptions scores = {};
  bool oracle = false;    // also score the candidates closest to the references
  bool one_step = false;  // of diffusion models: also measure single steps from noise
  // Of diffusion of symbols: measure the bound of the likelihood with so many draws of every text;
  // 0: not.
  int64_t bound_draws = 0;
  bool warm_up = true;  // generate once before, in few steps: speed is that of a warm machine
  std::filesystem::path profile = {};  // generate once more, write a trace for chrome://tracing
  std::stop_token stop = {};           // Error where it is asked
  std::function<void(int64_t more)> progress = {};  // texts that are done, in any thread
};

// How well a diffusion model finds the clean sentence in a single step, from noise as in training
// (every time alike), without an estimate of its own to begin with. Means over tokens.
struct OneStep {
  int64_t tokens = 0;
  double x0_error = 0;        // squared error of the estimate, mean over dimensions
  double velocity_error = 0;  // the same, in terms of the rescaled vector field (capped: method.md)
  double accuracy = 0;        // share of the estimates that lie in the right cell
  double reach = 0;           // length of the estimate over that of the codes
  double raw_x0_error = 0, raw_reach = 0;  // the same two of the network's estimate as it is
};

// A number that the mean of -log p(text | source) of a model of symbols does not exceed, but for
// the chance in the draws it is estimated from. Of continuous times: those above symbols.min_time.
struct LikelihoodBound {
  int64_t tokens = 0;  // symbols, end symbols included
  int64_t draws = 0;   // times and noises of every text
  double nats = 0;     // of a symbol

  double perplexity() const { return std::exp(nats); }
};

struct TextEvaluation {
  std::vector<TextScore> scores = {};
  std::vector<TextScore> oracle = {};  // where asked: what the best choice of candidates would have
  double exact_match = 0;              // percent of the texts
  std::optional<OneStep> one_step = {};
  std::optional<LikelihoodBound> bound = {};
  std::vector<std::string> sources = {}, references = {}, texts = {};
  int64_t nfe = 0;               // network calls of a text
  int64_t passes = 0;            // of the decoder: network calls of all candidates of a text
  double seconds = 0;            // of generation alone
  std::string kind = {};         // of the model: "diffusion", "ar"
  GenerateOptions options = {};  // in effect
  std::string effort = {};       // what was spent on a text, for people: "1 length x 5 noises, mbr"
  std::string profile = {};      // where asked: a table of what took time, for people

  double texts_per_second() const { return static_cast<double>(texts.size()) / seconds; }
};

// A part of a folder that `tessera prepare` wrote.
struct CorpusPart {
  std::filesystem::path folder;
  std::string split = "test";
  int64_t limit = 0;  // the first so many pairs; 0: all
};

// Generates a text for every source and measures it against its reference. Throws UsageError for
// options that make no sense with the model, before the work.
TESSERA_API TextEvaluation evaluate_texts(const Engine& engine,
                                          std::span<const std::string> sources,
                                          std::span<const std::string> references,
                                          const TextEvaluationOptions& options = {});
TESSERA_API TextEvaluation evaluate_texts(const Engine& engine, const CorpusPart& part,
                                          const TextEvaluationOptions& options = {});

}  // namespace tessera
