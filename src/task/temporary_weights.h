#pragma once

#include "nn/trainable.h"

namespace tessera::task {

// Puts other weights into a model for as long as it lives.
class TemporaryWeights {
 public:
  //   weights  like parameters().values()
  TemporaryWeights(nn::Trainable& model, const at::Tensor& weights);
  ~TemporaryWeights();
  TemporaryWeights(const TemporaryWeights&) = delete;
  TemporaryWeights& operator=(const TemporaryWeights&) = delete;

 private:
  void put(const at::Tensor& weights);

  nn::Trainable& model_;
  at::Tensor kept_;
};

}  // namespace tessera::task
