#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera::image_metric {

// A cloud of feature vectors, as far as the Fréchet distance sees it.
struct Gaussian {
  at::Tensor mean;        // [D] float64, on the CPU
  at::Tensor covariance;  // [D, D] float64, on the CPU

  int64_t dim() const { return mean.size(0); }
};

}  // namespace tessera::image_metric
