#pragma once

#include "image_metric/gaussian.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace tessera::image_metric {

// Mean and covariance of feature vectors that come batch by batch. The sums are kept in float64,
// around the mean so far: features far from zero lose no digits.
class Moments {
 public:
  // features [n, D] float32 or float64. The first ones decide on which device the sums are kept;
  // nothing waits for that device. Not-a-number is an error (on CUDA: with
  // raise_deferred_errors()).
  void add(const at::Tensor& features);

  // As if all that was added to the other had been added here.
  void merge(const Moments& other);

  // As if what was added elsewhere had been added here, too; at least one vector at each place.
  //   sum  adds up values over the places, in place
  void share(const std::function<void(const at::Tensor& values)>& sum);

  int64_t count() const { return count_; }
  int64_t dim() const { return mean_.defined() ? mean_.size(0) : 0; }  // 0 before the first add()

  at::Tensor mean() const;        // [D] float64, on the CPU; of at least one vector
  at::Tensor covariance() const;  // [D, D] float64, on the CPU, divided by n - 1; of at least two
  Gaussian gaussian() const { return {mean(), covariance()}; }

 private:
  void combine(int64_t count, const at::Tensor& mean, const at::Tensor& scatter);

  int64_t count_ = 0;
  at::Tensor mean_;     // [D]
  at::Tensor scatter_;  // [D, D], sum of (x - mean)(x - mean)ᵀ
};

}  // namespace tessera::image_metric
