#include <tessera/symbols/symbol_process.h>

#include "base/require.h"
#include "symbols/categorical.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>

namespace tessera {

SymbolProcess::SymbolProcess(int64_t symbols, const SymbolProcessOptions& options)
    : options_(options) {
  require_option(options.min_time >= 0 && options.min_time < 1,
                 "the earliest time must be in [0, 1), got {}", options.min_time);
  require_option(!options.continuous || options.min_time > 0,
                 "continuous times must not begin at 0, where the bound has no value: set a "
                 "min_time such as 0.001");
  const Survival survival(options.survival);
  if (options.noise == SymbolNoise::absorbing) {
    auto kernel = std::make_shared<const AbsorbingKernel>(symbols, survival);
    absorbing_ = kernel.get();
    kernel_ = std::move(kernel);
  } else {
    kernel_ = std::make_shared<const UniformKernel>(symbols, survival);
  }
}

at::Tensor SymbolProcess::draw_time(const StreamId& id, const at::Tensor& samples) const {
  const auto count = static_cast<double>(samples.size(0));
  at::Tensor share;  // [B] float64 in [0, 1)
  if (options_.low_discrepancy) {
    // One number for all: it moves a grid of as many times as there are samples.
    const at::Tensor one = random_uniform(id, at::zeros({1}, samples.options()), {});
    const at::Tensor places = at::arange(samples.size(0), one.options());
    share = ((places + one) / count).frac();
  } else {
    share = random_uniform(id, samples, {});
  }
  if (options_.continuous) return (options_.min_time + share * (1 - options_.min_time)) * horizon();
  return (share * horizon()).floor().clamp_max(horizon() - 1) + 1;
}

at::Tensor SymbolProcess::noise(const at::Tensor& x0, const at::Tensor& t,
                                const at::Tensor& u) const {
  require_shape(u, x0.sizes(), "u");
  const at::Tensor noisy = kernel_->draw(x0.clamp_min(0), at::zeros_like(t), t, u);
  return at::where(x0.ge(0), noisy, x0);
}

}  // namespace tessera
