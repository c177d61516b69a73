#include <tessera/evaluation/text_evaluation.h>

#include "base/require.h"
#include "evaluation/pair_evaluation.h"

namespace tessera {

TextEvaluation evaluate_texts(const Engine& engine, std::span<const std::string> sources,
                              std::span<const std::string> references,
                              const TextEvaluationOptions& options) {
  evaluation::check_options(options, engine);
  require(sources.size() == references.size(), "there are {} sources and {} references",
          sources.size(), references.size());
  require(!sources.empty(), "there are no texts to measure a model with");
  return evaluation::evaluate_pairs(
      engine, {{sources.begin(), sources.end()}, {references.begin(), references.end()}}, options);
}

TextEvaluation evaluate_texts(const Engine& engine, const CorpusPart& part,
                              const TextEvaluationOptions& options) {
  evaluation::check_options(options, engine);
  return evaluation::evaluate_pairs(engine, evaluation::TextPairs::read(part), options);
}

}  // namespace tessera
