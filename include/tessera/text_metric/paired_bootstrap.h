#pragma once

namespace tessera {

// A score and where it would lie on other lines of the same kind.
struct ScoreInterval {
  double score = 0;
  double mean = 0;           // over the samples
  double low = 0, high = 0;  // 95 % of the samples

  double half_width() const { return (high - low) / 2; }
};

// Two systems compared on the same lines, resampled many times.
struct PairedBootstrap {
  ScoreInterval baseline, system;
  double difference = 0;  // system - baseline
  // How often chance alone would make a difference this large: sacreBLEU's two-sided --paired-bs
  // (Koehn, "Statistical significance tests for machine translation evaluation", 2004).
  double p_value = 1;
};

}  // namespace tessera
