#include <tessera/evaluation/target_scores.h>

#include "base/require.h"
#include "engine/text_engine.h"
#include "seq2seq/scorer.h"

namespace tessera {
namespace {

TargetScore score_of(const seq2seq::TargetScore& found, const std::vector<text::Id>& target,
                     const text::Dictionary& dictionary) {
  const seq2seq::TargetScore possible = found.possible();
  TargetScore score{possible.total(), possible.symbols(), found.log_probabilities};
  for (size_t k = 0; k < target.size(); ++k)
    if (seq2seq::TargetScore::is_impossible(found.log_probabilities[k]))
      score.impossible.push_back(dictionary.symbol(target[k]));
  return score;
}

}  // namespace

TargetScores score_targets(const Engine& engine, std::span<const std::string> sources,
                           std::span<const std::string> targets,
                           const TargetScoreOptions& options) {
  require(sources.size() == targets.size(), "there are {} sources and {} targets", sources.size(),
          targets.size());
  require_option(options.batch_tokens >= 1, "batch_tokens must be at least 1, got {}",
                 options.batch_tokens);
  const engine::TextEngine& text = engine.text();
  seq2seq::require_probabilities(text.model(), engine.folder());
  std::vector<seq2seq::SourceSentence> sentences;
  std::vector<std::vector<text::Id>> symbols;  // of the targets
  for (size_t k = 0; k < sources.size(); ++k) {
    sentences.push_back({k, static_cast<int64_t>(k), text.symbols_of(sources[k])});
    symbols.push_back(text.tokenizer().encode(targets[k]));
  }
  seq2seq::ScoringTask task{sentences, {}};
  for (const auto& target : symbols) task.targets.push_back({target});

  const auto after_batch = [&](int64_t more) {
    if (options.progress) options.progress(more);
    require(!options.stop.stop_requested(), "the scoring was stopped");
  };
  const auto found = seq2seq::score_targets(text.model(), task, options.batch_tokens, after_batch);
  TargetScores scores;
  for (size_t k = 0; k < found.size(); ++k) {
    const TargetScore& score = scores.targets.emplace_back(
        score_of(found[k].front(), symbols[k], text.tokenizer().dictionary()));
    scores.log_probability += score.log_probability;
    scores.symbols += score.symbols;
  }
  return scores;
}

}  // namespace tessera
