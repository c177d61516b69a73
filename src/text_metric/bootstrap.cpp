#include "text_metric/bootstrap.h"

#include "base/require.h"

#include <tessera/tensor/random.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::text_metric {
namespace {

double sum_score(const AdditiveMetric& metric, std::span<const uint64_t> lines) {
  std::vector<double> sum(metric.width);
  for (const uint64_t line : lines)
    for (size_t i = 0; i < metric.width; ++i) sum[i] += metric.rows[line * metric.width + i];
  return metric.score(sum);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

ScoreInterval interval(double score, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const size_t tail = samples.size() / 40;
  return {score, mean(samples), samples[tail], samples[samples.size() - tail - 1]};
}

// The samples' differences, shifted so that their mean is zero, show what chance alone does.
double p_value(std::span<const double> baseline, std::span<const double> system,
               double difference) {
  if (difference == 0) return 1;  // sacreBLEU's count would find equal systems different
  std::vector<double> differences(baseline.size());
  for (size_t i = 0; i < differences.size(); ++i)
    differences[i] = std::abs(system[i] - baseline[i]);
  const double centre = mean(differences);
  const auto larger = std::count_if(differences.begin(), differences.end(), [&](double sample) {
    return sample - centre > std::abs(difference);
  });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
}

}  // namespace

double AdditiveMetric::whole() const {
  std::vector<double> sum(width);
  for (size_t i = 0; i < rows.size(); ++i) sum[i % width] += rows[i];
  return score(sum);
}

AdditiveMetric additive(std::span<const BleuStatistics> lines, const BleuOptions& options) {
  AdditiveMetric metric;
  metric.width = 2 * kBleuOrder + 2;
  for (const auto& line : lines) {
    for (const int64_t count : line.matches) metric.rows.push_back(static_cast<double>(count));
    for (const int64_t count : line.totals) metric.rows.push_back(static_cast<double>(count));
    metric.rows.push_back(static_cast<double>(line.hyp_len));
    metric.rows.push_back(static_cast<double>(line.ref_len));
  }
  metric.score = [options](std::span<const double> sum) {
    BleuStatistics counts;
    for (size_t n = 0; n < kBleuOrder; ++n) {
      counts.matches[n] = static_cast<int64_t>(sum[n]);
      counts.totals[n] = static_cast<int64_t>(sum[kBleuOrder + n]);
    }
    counts.hyp_len = static_cast<int64_t>(sum[2 * kBleuOrder]);
    counts.ref_len = static_cast<int64_t>(sum[2 * kBleuOrder + 1]);
    return bleu_of(counts, options).score;
  };
  return metric;
}

AdditiveMetric additive(std::span<const ChrfStatistics> lines, const ChrfOptions& options) {
  AdditiveMetric metric;
  const auto orders = static_cast<size_t>(options.char_order + options.word_order);
  metric.width = 3 * orders;
  for (const auto& line : lines)
    for (const auto& counts : line.orders) {
      metric.rows.push_back(static_cast<double>(counts.hypothesis));
      metric.rows.push_back(static_cast<double>(counts.reference));
      metric.rows.push_back(static_cast<double>(counts.matches));
    }
  metric.score = [options, orders](std::span<const double> sum) {
    ChrfStatistics statistics;
    for (size_t i = 0; i < orders; ++i)
      statistics.orders.push_back({static_cast<int64_t>(sum[3 * i]),
                                   static_cast<int64_t>(sum[3 * i + 1]),
                                   static_cast<int64_t>(sum[3 * i + 2])});
    return chrf_of(statistics, options);
  };
  return metric;
}

AdditiveMetric additive(std::span<const RougeStatistics> lines, RougeKind kind) {
  AdditiveMetric metric;
  metric.width = 2;
  for (const auto& line : lines) {
    metric.rows.push_back(line.sums[kind].f1);
    metric.rows.push_back(static_cast<double>(line.lines));
  }
  metric.score = [](std::span<const double> sum) { return sum[1] > 0 ? sum[0] / sum[1] : 0; };
  return metric;
}

PairedBootstrap paired_bootstrap(const AdditiveMetric& baseline, const AdditiveMetric& system,
                                 const BootstrapOptions& options) {
  const size_t lines = baseline.lines();
  require(system.lines() == lines, "the systems have {} and {} lines: they must correspond", lines,
          system.lines());
  require(lines > 0, "there are no lines to draw from");
  require_option(options.samples > 0, "the number of bootstrap samples must be positive, got {}",
                 options.samples);

  std::vector<uint64_t> drawn(lines);
  PairedBootstrap result;
  const double baseline_score = baseline.whole(), system_score = system.whole();
  std::vector<double> baseline_samples, system_samples;
  for (int k = 0; k < options.samples; ++k) {
    RandomStream random({options.seed, Purpose::resampling}, static_cast<uint64_t>(k));
    for (uint64_t& line : drawn) line = random.below(lines);
    baseline_samples.push_back(sum_score(baseline, drawn));
    system_samples.push_back(sum_score(system, drawn));
  }
  result.difference = system_score - baseline_score;
  result.p_value = p_value(baseline_samples, system_samples, result.difference);
  result.baseline = interval(baseline_score, std::move(baseline_samples));
  result.system = interval(system_score, std::move(system_samples));
  return result;
}

std::string bootstrap_signature(std::string signature, const BootstrapOptions& options) {
  const size_t after_references = std::min(signature.find('|'), signature.size());
  return signature.insert(after_references,
                          fmt::format("|bs:{}|seed:{}", options.samples, options.seed));
}

}  // namespace tessera::text_metric
