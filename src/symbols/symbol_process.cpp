#include <tessera/symbols/symbol_process.h>

#include "base/require.h"
#include "symbols/categorical.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>

namespace tessera {

bool has_mask(const SymbolProcessOptions& options) {
  return options.noise == SymbolNoise::absorbing && options.mask_value < 0;
}

SymbolProcess::SymbolProcess(int64_t symbols, const SymbolProcessOptions& options)
    : options_(options) {
  require_option(options.min_time >= 0 && options.min_time < 1,
                 "the earliest time must be in [0, 1), got {}", options.min_time);
  require_option(!options.continuous || options.min_time > 0,
                 "continuous times must not begin at 0, where the bound has no value: set a "
                 "min_time such as 0.001");
  require_option(options.mask_value < 0 || options.noise == SymbolNoise::absorbing,
                 "symbols.mask_value is for symbols.noise = \"absorbing\", not \"{}\"",
                 name_of(options.noise));
  require_option(!options.continuous || options.noise != SymbolNoise::gaussian,
                 "symbols.noise = \"gaussian\" has steps: set symbols.continuous = false");
  const Survival survival(options.survival);
  const int64_t horizon = options.survival.horizon;
  switch (options.noise) {
    case SymbolNoise::absorbing:
      if (options.mask_value >= 0) {
        kernel_ =
            std::make_shared<const AbsorbingSymbolKernel>(symbols, options.mask_value, survival);
      } else {
        auto kernel = std::make_shared<const AbsorbingKernel>(symbols, survival);
        absorbing_ = kernel.get();
        kernel_ = std::move(kernel);
      }
      break;
    case SymbolNoise::uniform:
      kernel_ = std::make_shared<const UniformKernel>(symbols, survival);
      break;
    case SymbolNoise::gaussian:
      kernel_ = std::make_shared<const GaussianKernel>(symbols, horizon, options.gaussian);
      break;
    case SymbolNoise::target_rate:
      kernel_ = std::make_shared<const TargetRateKernel>(symbols, horizon, options.target_rate);
      break;
  }
}

at::Tensor SymbolProcess::draw_time(const StreamId& id, const at::Tensor& samples) const {
  const auto count = static_cast<double>(samples.size(0));
  at::Tensor share;  // [B] float64 in [0, 1)
  if (options_.low_discrepancy) {
    // One random number for all: it shifts a grid with one time per sample.
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

at::Tensor SymbolProcess::jump(const at::Tensor& x, const at::Tensor& t,
                               const at::Tensor& u) const {
  const int64_t rows = x.size(0), states = kernel_->states();
  require_shape(u, {rows, 2}, "u");
  // The first symbol or state at which the cumulative share of the rates exceeds a number.
  const auto found = [](const at::Tensor& rates, const at::Tensor& number) {
    const at::Tensor below = rates.cumsum(-1), all = below.narrow(-1, -1, 1).contiguous();
    return at::minimum(at::searchsorted(below, number * all, /*out_int32=*/false, /*right=*/true),
                       at::searchsorted(below, all));
  };
  const at::Tensor all = at::arange(states, x.options()).expand({rows, states});
  const at::Tensor rates = kernel_->rates_from(all, t);  // [B, states, states]
  const at::Tensor flat = x.reshape({rows, -1});
  const at::Tensor leaving = rates.sum(-1).gather(1, flat.clamp_min(0)) * flat.ge(0);
  const at::Tensor place = found(leaving, u.narrow(1, 0, 1));  // [B, 1]
  const at::Tensor from = flat.gather(1, place).clamp_min(0);
  const at::Tensor row = rates.gather(1, from.unsqueeze(-1).expand({rows, 1, states})).squeeze(1);
  const at::Tensor to = found(row, u.narrow(1, 1, 1));
  return flat.scatter(1, place, to).view(x.sizes());
}

}  // namespace tessera
