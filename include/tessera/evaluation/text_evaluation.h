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
  bool reference_lengths = false;  // diffusion models: texts get the lengths of their references
  TextScoreOptions scores = {};
  bool oracle = false;    // also score the candidates closest to the references
  bool one_step = false;  // diffusion models: also measure single steps from noise
  // Diffusion of symbols: draws per text to estimate the bound of the likelihood from; 0: do not
  // estimate it.
  int64_t bound_draws = 0;
  bool warm_up = true;  // first generate once in few steps: speed is that of a warm machine
  std::filesystem::path profile = {};  // generate again and write a trace for chrome://tracing
  std::stop_token stop = {};           // a request to stop throws Error
  std::function<void(int64_t more)> progress = {};  // newly finished texts; from any thread
};

// How well a diffusion model finds the clean sentence in a single step, from noise as in training
// (all times equally likely) and without an earlier estimate of its own. Means over tokens.
struct OneStep {
  int64_t tokens = 0;
  double x0_error = 0;        // squared error of the estimate, mean over dimensions
  double velocity_error = 0;  // the same, in terms of the rescaled vector field (capped: method.md)
  double accuracy = 0;        // share of the estimates that lie in the right cell
  double reach = 0;           // length of the estimate over that of the codes
  double raw_x0_error = 0, raw_reach = 0;  // both for the network's raw estimate
};

// An upper bound of the mean of -log p(text | source) under a model of symbols, up to the error of
// estimating it from random draws. If time is continuous, it covers times above symbols.min_time.
struct LikelihoodBound {
  int64_t tokens = 0;  // symbols, end symbols included
  int64_t draws = 0;   // draws of time and noise per text
  double nats = 0;     // per symbol

  double perplexity() const { return std::exp(nats); }
};

struct TextEvaluation {
  std::vector<TextScore> scores = {};
  std::vector<TextScore> oracle = {};  // if asked for: with the best choice of candidates
  double exact_match = 0;              // percent of the texts
  std::optional<OneStep> one_step = {};
  std::optional<LikelihoodBound> bound = {};
  std::vector<std::string> sources = {}, references = {}, texts = {};
  int64_t nfe = 0;               // network calls per text
  int64_t passes = 0;            // decoder passes: network calls of all candidates of a text
  double seconds = 0;            // of generation alone
  std::string kind = {};         // of the model: "diffusion", "ar"
  GenerateOptions options = {};  // in effect
  std::string effort = {};       // what was spent on a text, for people: "1 length x 5 noises, mbr"
  std::string profile = {};      // if asked for: a table of what took time, for people

  double texts_per_second() const { return static_cast<double>(texts.size()) / seconds; }
};

// A part of a folder that `tessera prepare` wrote.
struct CorpusPart {
  std::filesystem::path folder;
  std::string split = "test";
  int64_t limit = 0;  // pairs to use, from the first on; 0: all
};

// Generates a text for every source and measures it against its reference. Throws UsageError for
// options that make no sense with the model, before any work.
TESSERA_API TextEvaluation evaluate_texts(const Engine& engine,
                                          std::span<const std::string> sources,
                                          std::span<const std::string> references,
                                          const TextEvaluationOptions& options = {});
TESSERA_API TextEvaluation evaluate_texts(const Engine& engine, const CorpusPart& part,
                                          const TextEvaluationOptions& options = {});

}  // namespace tessera
