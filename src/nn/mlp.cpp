#include "nn/mlp.h"

#include "base/require.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::nn {

Mlp::Mlp(const std::vector<int64_t>& sizes, const StreamId& stream, at::Device device,
         at::ScalarType dtype) {
  require(sizes.size() >= 2, "a perceptron needs an input and an output size");
  for (const int64_t size : sizes)
    require(size >= 1, "the sizes of a perceptron must be positive, got {}", size);
  for (size_t k = 0; k + 1 < sizes.size(); ++k) {
    // Drawn on the CPU, so that equal seeds give equal weights on every device.
    const at::Tensor row = at::full({1}, static_cast<int64_t>(k), at::kLong);
    const double scale = 1 / std::sqrt(static_cast<double>(sizes[k]));
    const at::Tensor weight = random_normal(stream, row, {sizes[k + 1], sizes[k]}, scale)
                                  .squeeze(0)
                                  .to(device, dtype)
                                  .contiguous();
    const at::Tensor bias = at::zeros({sizes[k + 1]}, weight.options());
    layers_.push_back({weight.requires_grad_(), bias.requires_grad_()});
  }
}

at::Tensor Mlp::forward(const at::Tensor& x) const {
  at::Tensor hidden = x;
  for (size_t k = 0; k < layers_.size(); ++k) {
    if (k > 0) hidden = at::silu(hidden);
    hidden = at::linear(hidden, layers_[k].weight, layers_[k].bias);
  }
  return hidden;
}

std::vector<at::Tensor> Mlp::parameters() const {
  std::vector<at::Tensor> all;
  for (const Layer& layer : layers_) {
    all.push_back(layer.weight);
    all.push_back(layer.bias);
  }
  return all;
}

}  // namespace tessera::nn
