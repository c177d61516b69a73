#pragma once

#include "text_metric/bleu.h"
#include "text_metric/bootstrap.h"

#include <tessera/base/enum_names.h>

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace tessera::app {

enum class Metric {
  bleu,
  chrf,
  chrf_with_words,  // chrF++
  rouge,            // ROUGE-1, ROUGE-2 and ROUGE-L
};

}  // namespace tessera::app

template <>
struct tessera::EnumNames<tessera::app::Metric> {
  using Metric = tessera::app::Metric;
  static constexpr std::string_view what = "metric";
  static constexpr std::array<std::pair<Metric, std::string_view>, 4> values{
      {{Metric::bleu, "bleu"},
       {Metric::chrf, "chrf"},
       {Metric::chrf_with_words, "chrf++"},
       {Metric::rouge, "rouge"}}};
};

namespace tessera::app {

struct MeasureOptions {
  std::vector<Metric> metrics{Metric::bleu};
  text_metric::Tokenization tokenization = text_metric::Tokenization::mteval_13a;  // for BLEU
  text_metric::Smoothing smoothing = text_metric::Smoothing::exp;                  // for BLEU
  bool lowercase = false;  // ROUGE does so always
};

// One score of one system, in all the forms it is shown in.
struct Measurement {
  std::string name, signature;
  double score = 0;
  std::string line;                // with name and signature
  nlohmann::ordered_json details;  // what else the metric knows
  std::vector<double> sentences;   // the score of each line
  std::string sentence_signature;
  text_metric::AdditiveMetric lines;
};

//   references  one document each, every one with as many lines as there are hypotheses
std::vector<Measurement> measure(std::span<const std::string> hypotheses,
                                 std::span<const std::vector<std::string>> references,
                                 const MeasureOptions& options);

}  // namespace tessera::app
