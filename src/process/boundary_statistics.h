#pragma once

#include <tessera/process/process.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace tessera {

// Where the paths from tokens to noise leave their cells. Symbols that cannot be decoded (padding
// among them) have no cell and are not counted.
struct BoundaryStatistics {
  static constexpr int64_t kBins = 20;

  int64_t tokens = 0;
  double outside = 0;  // share of the tokens outside their own cell
  double no_exit = 0;  // share of the paths that never leave; t0 is what the policy says
  double mean = 0;     // of t0 / T
  std::vector<double> histogram{};  // [kBins] shares of t0 / T in equal bins from 0 to 1
};

// Collects them batch by batch. Never waits for the device before result(). Process and codebook
// must outlive it.
class BoundaryCounter {
 public:
  //   undecodable  symbols without a cell
  BoundaryCounter(const Process& process, const Codebook& codebook,
                  const std::vector<int64_t>& undecodable = {});

  // labels [...] int64, eps [..., d] noise
  void add(const at::Tensor& labels, const at::Tensor& eps);

  // As if all that was counted elsewhere had been counted here.
  //   sum  adds up values over the places that count, in place
  void share(const std::function<void(const at::Tensor& values)>& sum);

  BoundaryStatistics result() const;  // zeros if nothing was counted

 private:
  const Process& process_;
  const Codebook& codebook_;
  at::Tensor decodable_;  // [symbols] bool
  at::Tensor sums_;       // [4] float64: outside, no exit, t0 / T, tokens
  at::Tensor histogram_;  // [kBins] float64
};

// The statistics of some labels [N] int64. The noise is a function of (seed, place in `labels`).
BoundaryStatistics boundary_statistics(const Process& process, const Codebook& codebook,
                                       const std::vector<int64_t>& undecodable,
                                       const at::Tensor& labels, uint64_t seed);

}  // namespace tessera
