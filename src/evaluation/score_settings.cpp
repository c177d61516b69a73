#include "evaluation/score_settings.h"

namespace tessera::evaluation {

ScoreSettings::ScoreSettings(const TextScoreOptions& options)
    : bleu{.lowercase = options.lowercase,
           .smoothing = parse_name<text_metric::Smoothing>(options.smoothing)},
      bootstrap{options.samples, options.seed} {
  for (const std::string& name : options.metrics) metrics.push_back(parse_name<Metric>(name));
  if (options.tokenization)
    bleu.tokenization = parse_name<text_metric::Tokenization>(*options.tokenization);
}

}  // namespace tessera::evaluation
