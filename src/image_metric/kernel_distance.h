#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera::image_metric {

struct KernelDistanceOptions {
  int64_t subsets = 100;
  int64_t subset_size = 1000;  // of each set; if the smaller set has fewer, all of it
  uint64_t seed = 1;           // of the choice
};

struct KernelDistance {
  double mean = 0, deviation = 0;  // over the subsets
  int64_t subsets = 0, subset_size = 0;
};

// The unbiased estimate of the squared maximum mean discrepancy of two sets of feature vectors with
// the kernel (x·y / D + 1)³. May be a little below zero.
//   x [n, D], y [m, D]  float32 or float64, on one device; at least two vectors each
double squared_discrepancy(const at::Tensor& x, const at::Tensor& y);

// Its mean over random subsets, drawn without repetition (Bińkowski et al., "Demystifying MMD
// GANs", 2018). A function of the features and the seed.
KernelDistance kernel_distance(const at::Tensor& x, const at::Tensor& y,
                               const KernelDistanceOptions& options = {});

}  // namespace tessera::image_metric
