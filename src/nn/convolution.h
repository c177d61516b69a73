#pragma once

#include "nn/parameters.h"
#include "nn/pending_bias.h"

#include <optional>
#include <string>

namespace tessera::nn {

// A convolution of pictures, whose channels come last in memory: what convolutions on a GPU like
// best, and what codes of pixels are without any copying.
struct Convolution {
  Convolution() = default;
  //   size   of the square window, odd; its border is padded with zeros
  //   start  deviation of the first weights; negative: 1 / sqrt(3 * inputs * size^2)
  Convolution(Parameters& parameters, const std::string& name, int64_t inputs, int64_t outputs,
              int64_t size = 3, int64_t stride = 1, double start = -1);

  //   [B, H, W, inputs] -> [B, H', W', outputs]
  at::Tensor operator()(const at::Tensor& x) const;
  PendingBias without_bias(const at::Tensor& x) const;

  Weight weight;  // [outputs, size, size, inputs]
  Weight bias;    // [outputs]
  int64_t stride = 1;

 private:
  at::Tensor convolved(const at::Tensor& x, const std::optional<at::Tensor>& summand) const;
};

}  // namespace tessera::nn
