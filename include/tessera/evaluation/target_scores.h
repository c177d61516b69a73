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
  int64_t batch_tokens = 48000;                     // targets x padded length of a batch, at most
  std::stop_token stop = {};                        // Error where it is asked
  std::function<void(int64_t more)> progress = {};  // targets that are done
};

// The probability that a model gives to a target. Symbols that no target of training has are
// impossible: their probability is 0, and the sums leave them out.
struct TargetScore {
  double log_probability = 0;                  // natural logarithm, end symbol included
  int64_t symbols = 0;                         // that are summed, the end symbol among them
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

// Scores given targets with a model that has probabilities: one that writes from left to right.
// Throws Error for another one, and for lines that are longer than the model can read.
TESSERA_API TargetScores score_targets(const Engine& engine, std::span<const std::string> sources,
                                       std::span<const std::string> targets,
                                       const TargetScoreOptions& options = {});

}  // namespace tessera
