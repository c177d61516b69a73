#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera::image_metric {

// What the Fréchet distance needs to know about a set of feature vectors.
struct Gaussian {
  at::Tensor mean;        // [D] float64, on the CPU
  at::Tensor covariance;  // [D, D] float64, on the CPU

  int64_t dim() const { return mean.size(0); }
};

}  // namespace tessera::image_metric
