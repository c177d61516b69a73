#pragma once

#include <tessera/tensor/random.h>

#include <ATen/core/Tensor.h>

#include <vector>

namespace tessera::nn {

// A multilayer perceptron: linear layers with SiLU between them.
class Mlp {
 public:
  // sizes: of the input, the hidden layers and the output. Weights ~ N(0, 1 / inputs), biases 0;
  // layer k draws from sample k of the stream.
  Mlp(const std::vector<int64_t>& sizes, const StreamId& stream, at::Device device,
      at::ScalarType dtype = at::kFloat);

  at::Tensor forward(const at::Tensor& x) const;  // [..., input] -> [..., output]

  std::vector<at::Tensor> parameters() const;  // weight and bias of every layer, in order

 private:
  struct Layer {
    at::Tensor weight;  // [outputs, inputs]
    at::Tensor bias;    // [outputs]
  };
  std::vector<Layer> layers_;
};

}  // namespace tessera::nn
