#pragma once

#include "nn/trainable.h"

namespace tessera::task {

// Puts other weights into a model for as long as it lives.
class WeightsInForce {
 public:
  //   weights  like parameters().values()
  WeightsInForce(nn::Trainable& model, const at::Tensor& weights);
  ~WeightsInForce();
  WeightsInForce(const WeightsInForce&) = delete;
  WeightsInForce& operator=(const WeightsInForce&) = delete;

 private:
  void put(const at::Tensor& weights);

  nn::Trainable& model_;
  at::Tensor kept_;
};

}  // namespace tessera::task
