#pragma once

#include "text_metric/bleu.h"
#include "text_metric/bootstrap.h"

#include <tessera/base/enum_names.h>
#include <tessera/evaluation/text_scores.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::evaluation {

enum class Metric {
  bleu,
  chrf,
  chrf_with_words,  // chrF++
  rouge,            // ROUGE-1, ROUGE-2 and ROUGE-L
};

}  // namespace tessera::evaluation

template <>
struct tessera::EnumNames<tessera::evaluation::Metric> {
  using Metric = tessera::evaluation::Metric;
  static constexpr std::string_view what = "metric";
  static constexpr std::array<std::pair<Metric, std::string_view>, 4> values{
      {{Metric::bleu, "bleu"},
       {Metric::chrf, "chrf"},
       {Metric::chrf_with_words, "chrf++"},
       {Metric::rouge, "rouge"}}};
};

namespace tessera::evaluation {

// TextScoreOptions with their names parsed.
struct ScoreSettings {
  std::vector<Metric> metrics;
  text_metric::BleuOptions bleu;  // chrF uses its `lowercase`, too
  text_metric::BootstrapOptions bootstrap;

  // Throws UsageError for unknown names.
  explicit ScoreSettings(const TextScoreOptions& options);
};

}  // namespace tessera::evaluation
