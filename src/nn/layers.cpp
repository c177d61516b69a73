#include "nn/layers.h"

#include "base/require.h"
#include "nn/int8.h"
#include "nn/row_kernels.h"
#include "nn/seeded_dropout.h"

#include <ATen/ATen.h>

namespace tessera::nn {

Linear::Linear(Parameters& parameters, const std::string& name, int64_t inputs, int64_t outputs,
               bool with_bias, const Initial& initial)
    : weight(parameters.add(name + ".weight", {outputs, inputs}, initial, Use::product)) {
  if (with_bias) bias = parameters.add(name + ".bias", {outputs}, Initial::zeros(), Use::network);
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  if (weight.rounded() != nullptr) return int8_linear(*this, x);
  return at::linear(x.to(weight->scalar_type()), *weight,
                    bias.defined() ? std::optional<at::Tensor>(*bias) : std::nullopt);
}

PendingBias Linear::without_bias(const at::Tensor& x) const {
  if (!bias.defined() || !has_row_kernels(*weight, weight->size(0))) return {(*this)(x), {}};
  return {at::linear(x.to(weight->scalar_type()), *weight), *bias};
}

LayerNorm::LayerNorm(Parameters& parameters, const std::string& name, int64_t width)
    : scale(parameters.add(name + ".scale", {width}, Initial::ones(), Use::network)),
      shift(parameters.add(name + ".shift", {width}, Initial::zeros(), Use::network)) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x.to(scale->scalar_type()), scale->sizes(), *scale, *shift, kEps);
}

Positions::Positions(Parameters& parameters, const std::string& name, int64_t count, int64_t width)
    : table(parameters.add(name, {count, width}, Initial::normal(), Use::network)) {}

at::Tensor Positions::operator()(int64_t length, int64_t first) const {
  require(first + length <= table->size(0),
          "a sequence of {} symbols is longer than the model's {} positions", first + length,
          table->size(0));
  return table->narrow(0, first, length);
}

at::Tensor dropout(const at::Tensor& x, double share, Mode mode) {
  if (mode != Mode::training || share <= 0) return x;
  const auto generator = SeededDropout::generator(x.device());
  if (!generator || share >= 1 || x.numel() == 0) return at::dropout(x, share, true);
  // The same as at::dropout on the CPU, which takes no generator.
  const at::Tensor kept = at::empty_like(x).bernoulli_(1 - share, generator).div_(1 - share);
  return x * kept;
}

}  // namespace tessera::nn
