#pragma once

#include <tessera/process/process.h>

#include <cstdint>
#include <vector>

namespace tessera {

// How well the true symbol can be read from the points a network is shown: its rank by score among
// all symbols that can be decoded, 1 if the point decodes to it. A network that can read the symbol
// from the point learns to trust the point.
struct RankStatistics {
  std::vector<double> times;   // t / T
  std::vector<double> median;  // rank at that time
  double mean_log = 0;         // mean of ln(rank) over all times: orders processes by difficulty
};

// Measures labels [N] int64 that can be decoded, at `steps` times from T / steps to T. The noise is
// a function of (seed, place in `labels`).
RankStatistics rank_statistics(const Process& process, const Codebook& codebook,
                               const at::Tensor& labels, int64_t steps, uint64_t seed);

}  // namespace tessera
