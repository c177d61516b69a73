#pragma once

#include "text_metric/bleu.h"
#include "text_metric/chrf.h"
#include "text_metric/rouge.h"

#include <tessera/text_metric/paired_bootstrap.h>

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

// Draws lines with replacement, the same for both systems, and scores them again and again.
PairedBootstrap paired_bootstrap(const AdditiveMetric& baseline, const AdditiveMetric& system,
                                 const BootstrapOptions& options = {});

// "nrefs:1|case:..." with the fields sacreBLEU adds: "nrefs:1|bs:1000|seed:1|case:..."
std::string bootstrap_signature(std::string signature, const BootstrapOptions& options);

}  // namespace tessera::text_metric
