#pragma once

#include <tessera/symbols/symbol_process.h>

#include <cstdint>
#include <vector>

namespace tessera {

// What noise leaves of symbols, by time. Exact: it follows from the noise and from how often each
// symbol occurs, and nothing is drawn.
struct NoiseStatistics {
  std::vector<double> times;     // t / T
  std::vector<double> survival;  // alpha: share that noise has left alone; empty: noise has none
  std::vector<double> changed;   // share that are masked, or other symbols than they were
  // What the noisy symbol alone says of the clean one, as a share of the entropy of clean symbols:
  // 1, nothing is lost; 0, a network has only the other symbols to go by.
  std::vector<double> information;
};

// At `steps` times from T / steps to T, or the next whole step.
//   counts  [K] float64: how often each symbol occurs, with at least one that does
NoiseStatistics noise_statistics(const SymbolProcess& process, const at::Tensor& counts,
                                 int64_t steps);

}  // namespace tessera
