#pragma once

#include "text_metric/bleu.h"
#include "text_metric/chrf.h"
#include "text_metric/rouge.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tessera::text_metric {

// A metric as resampling sees it: numbers per line that add up, and the score of a sum.
struct AdditiveMetric {
  size_t width = 0;          // numbers per line
  std::vector<double> rows;  // [lines, width]
  std::function<double(std::span<const double> sum)> score;

  size_t lines() const { return width == 0 ? 0 : rows.size() / width; }
  double whole() const;  // the score of all lines
};

AdditiveMetric additive(std::span<const BleuStatistics> lines, const BleuOptions& options = {});
AdditiveMetric additive(std::span<const ChrfStatistics> lines, const ChrfOptions& options = {});
AdditiveMetric additive(std::span<const RougeStatistics> lines, RougeKind kind);  // F1

struct BootstrapOptions {
  int samples = 1000;
  uint64_t seed = 1;  // equal seeds draw equal lines, whatever the metric
};

// A score and where it would lie on other lines of the same kind.
struct ScoreInterval {
  double score = 0;
  double mean = 0;           // over the samples
  double low = 0, high = 0;  // 95 % of the samples

  double half_width() const { return (high - low) / 2; }
};

struct PairedBootstrap {
  ScoreInterval baseline, system;
  double difference = 0;  // system - baseline
  // How often chance alone would make a difference this large: sacreBLEU's two-sided --paired-bs
  // (Koehn, "Statistical significance tests for machine translation evaluation", 2004).
  double p_value = 1;
};

// Draws lines with replacement, the same for both systems, and scores them again and again.
PairedBootstrap paired_bootstrap(const AdditiveMetric& baseline, const AdditiveMetric& system,
                                 const BootstrapOptions& options = {});

// "nrefs:1|case:..." with the fields sacreBLEU adds: "nrefs:1|bs:1000|seed:1|case:..."
std::string bootstrap_signature(std::string signature, const BootstrapOptions& options);

}  // namespace tessera::text_metric
