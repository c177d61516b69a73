#pragma once

#include "nn/parameters.h"
#include "nn/pending_bias.h"

#include <optional>
#include <string>

namespace tessera::nn {

// A convolution of pictures with the channels last in memory. Convolutions on a GPU are fastest
// with this order, and codes of pixels have it without any copying.
struct Convolution {
  static constexpr double kNearZero = 1e-5;  // `start` of one that begins by doing nothing

  Convolution() = default;
  //   size   of the square window, odd; pictures are padded with zeros
  //   start  standard deviation of the first weights; negative: 1 / sqrt(3 * inputs * size^2)
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

// Every pixel becomes a square of four.   [B, H, W, C] -> [B, 2 H, 2 W, C]
at::Tensor doubled(const at::Tensor& x);

}  // namespace tessera::nn
