#include "task/weights_in_force.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera::task {

WeightsInForce::WeightsInForce(nn::Trainable& model, const at::Tensor& weights)
    : model_(model), kept_(model.parameters().values().clone()) {
  try {
    put(weights);
  } catch (...) {
    put(kept_);
    throw;
  }
}

WeightsInForce::~WeightsInForce() {
  put(kept_);
}

void WeightsInForce::put(const at::Tensor& weights) {
  const c10::NoGradGuard no_grad;
  model_.parameters().values().copy_(weights);
  model_.refresh();
}

}  // namespace tessera::task
