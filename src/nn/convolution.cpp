#include "nn/convolution.h"

#include "nn/row_kernels.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::nn {

Convolution::Convolution(Parameters& parameters, const std::string& name, int64_t inputs,
                         int64_t outputs, int64_t size, int64_t step, double start)
    : stride(step) {
  const auto reach = static_cast<double>(inputs * size * size);
  const auto initial = Initial::normal(start < 0 ? 1 / std::sqrt(3 * reach) : start);
  weight = parameters.add(name + ".weight", {outputs, size, size, inputs}, initial, Use::network);
  bias = parameters.add(name + ".bias", {outputs}, Initial::zeros(), Use::network);
}

at::Tensor Convolution::convolved(const at::Tensor& x,
                                  const std::optional<at::Tensor>& summand) const {
  // Views with the sizes that LibTorch expects, and the channels last in memory.
  const auto pictures = [](const at::Tensor& y) { return y.permute({0, 3, 1, 2}); };
  const int64_t border = weight->size(1) / 2;
  return at::conv2d(pictures(x.to(weight->scalar_type())), pictures(*weight), summand, stride,
                    border)
      .permute({0, 2, 3, 1})
      .contiguous();
}

at::Tensor Convolution::operator()(const at::Tensor& x) const {
  return convolved(x, *bias);
}

PendingBias Convolution::without_bias(const at::Tensor& x) const {
  if (!has_row_kernels(*weight, weight->size(0))) return {(*this)(x), {}};
  return {convolved(x, std::nullopt), *bias};
}

at::Tensor doubled(const at::Tensor& x) {
  const int64_t rows = x.size(0), height = x.size(1), width = x.size(2), channels = x.size(3);
  return x.view({rows, height, 1, width, 1, channels})
      .expand({rows, height, 2, width, 2, channels})
      .reshape({rows, 2 * height, 2 * width, channels});
}

}  // namespace tessera::nn
