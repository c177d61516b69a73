#pragma once

#include "seq2seq/generation_batches.h"
#include "seq2seq/seq2seq.h"
#include "text/dictionary.h"

#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace tessera::seq2seq {

// How likely a target is for a model.
struct TargetScore {
  std::vector<double> log_probabilities;  // of every symbol, end included

  int64_t symbols() const { return static_cast<int64_t>(log_probabilities.size()); }
  double total() const {
    return std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0);
  }
  double mean() const { return total() / static_cast<double>(symbols()); }

  // Without the symbols that the model never writes (probability 0), because no training target has
  // them. The end symbol is always kept.
  TargetScore possible() const {
    TargetScore kept = *this;
    std::erase_if(kept.log_probabilities, is_impossible);
    return kept;
  }
  static bool is_impossible(double log_probability) {
    return log_probability == -std::numeric_limits<double>::infinity();
  }
};

// Source sentences and the targets of each, to be scored. Sources have end symbols, targets have
// none.
struct ScoringTask {
  std::span<const SourceSentence> sources;
  std::vector<std::vector<std::span<const text::Id>>> targets;  // of every source
};

// Scores given targets, many at once, with a model that has probabilities.
//   batch_tokens  targets x padded length of a batch, at most
//   progress      called with the number of sources that are newly done
// Throws Error for a source or target that is longer than the model's positions.
std::vector<std::vector<TargetScore>> score_targets(
    const Seq2Seq& model, const ScoringTask& task, int64_t batch_tokens,
    const std::function<void(int64_t)>& progress = {});

}  // namespace tessera::seq2seq
