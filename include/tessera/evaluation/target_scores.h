#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/engine.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace tessera {

struct TargetScoreOptions {
  int64_t batch_tokens = 48000;                     // limit of targets x padded length in a batch
  std::stop_token stop = {};                        // a request to stop throws Error
  std::function<void(int64_t more)> progress = {};  // newly scored targets
};

// The probability that a model gives to a target. Symbols that occur in no training target are
// impossible: their probability is 0, and the sums leave them out.
struct TargetScore {
  double log_probability = 0;                  // natural logarithm, end symbol included
  int64_t symbols = 0;                         // number of symbols in the sum, end symbol included
  std::vector<double> log_probabilities = {};  // of every symbol, the end last; -inf: impossible
  std::vector<std::string> impossible = {};    // symbols, in order

  double perplexity() const {  // per symbol
    return std::exp(-log_probability / static_cast<double>(symbols));
  }
};

struct TargetScores {
  std::vector<TargetScore> targets = {};
  double log_probability = 0;  // of all targets together
  int64_t symbols = 0;

  double perplexity() const { return std::exp(-log_probability / static_cast<double>(symbols)); }
};

// Scores given targets with a model that has probabilities, that is, an autoregressive one. Throws
// Error for other models, and for lines that are longer than the model can read.
TESSERA_API TargetScores score_targets(const Engine& engine, std::span<const std::string> sources,
                                       std::span<const std::string> targets,
                                       const TargetScoreOptions& options = {});

}  // namespace tessera
