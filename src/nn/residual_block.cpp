#include "nn/residual_block.h"

#include "nn/join.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::nn {

ResidualBlock::ResidualBlock(Parameters& parameters, const std::string& name, int64_t inputs,
                             int64_t outputs, int64_t told)
    : first_norm(parameters, name + ".first_norm", inputs),
      second_norm(parameters, name + ".second_norm", outputs),
      first(parameters, name + ".first", inputs, outputs),
      second(parameters, name + ".second", outputs, outputs, 3, 1, Convolution::kNearZero) {
  if (told > 0)
    film = Linear(parameters, name + ".film", told, 2 * outputs, /*with_bias=*/true,
                  Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(told))));
  if (inputs != outputs) shortcut = Convolution(parameters, name + ".shortcut", inputs, outputs, 1);
}

at::Tensor ResidualBlock::operator()(const at::Tensor& x, const at::Tensor& told, double dropout,
                                     Mode mode) const {
  const auto between = first.without_bias(first_norm(x, After::silu));
  const at::Tensor scales = film.weight.defined() ? film(told) : at::Tensor();
  const at::Tensor h = second_norm(between.y, After::silu, scales, between.bias);
  const auto changed = second.without_bias(nn::dropout(h, dropout, mode));
  if (!shortcut.weight.defined()) return joined(changed.y, x, changed.bias);
  const auto passed = shortcut.without_bias(x);
  return joined(changed.y, passed.y,
                changed.bias.defined() ? changed.bias + passed.bias : changed.bias);
}

}  // namespace tessera::nn
