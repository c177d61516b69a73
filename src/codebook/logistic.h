#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera {

// Equal bins of numbers, symmetric around 0.
struct LogisticBins {
  int64_t count;
  double width;

  // The outermost centres are -1 and 1 (D3PM).
  static LogisticBins centred(int64_t count) { return {count, 2 / static_cast<double>(count - 1)}; }
  // Equal parts of [-1, 1] (tauLDR).
  static LogisticBins parts(int64_t count) { return {count, 2 / static_cast<double>(count)}; }
};

// The logistic distribution of a value in such bins; the mass outside all bins is left out. It is
// given by two numbers, the mean and a log-scale; the scale is exp(log-scale - 2). Stable in both
// tails, float32 or float64.
//   logistic  [..., 2]

// log p of all K bins.   -> [..., K]
at::Tensor logistic_log_probabilities(const at::Tensor& logistic, const LogisticBins& bins);

// log p of one bin each, computed without the other bins.   bin [...] int64 -> [...]
at::Tensor logistic_log_probability(const at::Tensor& logistic, const at::Tensor& bin,
                                    const LogisticBins& bins);

// The likeliest bin.   -> [...] int64
at::Tensor logistic_mode(const at::Tensor& logistic, const LogisticBins& bins);

}  // namespace tessera
