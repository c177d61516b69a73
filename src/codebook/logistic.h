#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera {

// The logistic distribution of a value, in K equal bins: bin k has its centre at -1 + 2k / (K - 1),
// and the mass outside all bins is left out. It is given by two numbers, the mean and a log-scale;
// the scale is exp(log-scale - 2). Stable in both tails, float32 or float64.
//   logistic  [..., 2]

// log p of all bins.   -> [..., K]
at::Tensor logistic_log_probabilities(const at::Tensor& logistic, int64_t bins);

// log p of one bin each, computed without the other bins.   bin [...] int64 -> [...]
at::Tensor logistic_log_probability(const at::Tensor& logistic, const at::Tensor& bin,
                                    int64_t bins);

// The likeliest bin.   -> [...] int64
at::Tensor logistic_mode(const at::Tensor& logistic, int64_t bins);

}  // namespace tessera
