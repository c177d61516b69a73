#include "task/temporary_weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera::task {

TemporaryWeights::TemporaryWeights(nn::Trainable& model, const at::Tensor& weights)
    : model_(model), kept_(model.parameters().values().clone()) {
  try {
    put(weights);
  } catch (...) {
    put(kept_);
    throw;
  }
}

TemporaryWeights::~TemporaryWeights() {
  put(kept_);
}

void TemporaryWeights::put(const at::Tensor& weights) {
  const c10::NoGradGuard no_grad;
  model_.parameters().values().copy_(weights);
  model_.refresh();
}

}  // namespace tessera::task
