#include <tessera/symbols/symbol_objective.h>

#include "base/require.h"
#include "process/masked_mean.h"
#include "symbols/categorical.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <vector>

namespace tessera {
namespace {

// The weight at masks, 0 elsewhere.   [B] -> as xt
at::Tensor at_masks(const SymbolProcess& process, const at::Tensor& weight, const at::Tensor& xt) {
  const at::Tensor spread = against_elements(weight, xt.dim()).to(at::kFloat);
  return at::where(xt.eq(process.kernel().mask()), spread, at::zeros({}, spread.options()));
}

// Weight of a mask's cross-entropy in the whole bound.
at::Tensor mask_weight(const SymbolProcess& process, const at::Tensor& t, MaskWeight weight) {
  const AbsorbingKernel& kernel = *process.absorbing();
  if (weight == MaskWeight::flat) return at::ones_like(t);
  if (weight == MaskWeight::linear) return 1 - t / process.horizon();
  return process.options().continuous ? kernel.survival().hazard(t)
                                      : kernel.uncovered(t - 1, t) * process.horizon();
}

// The bound of a process with discrete time: one of T terms.
at::Tensor stepped_bound(const SymbolProcess& process, const at::Tensor& log_p0,
                         const at::Tensor& surprise, const at::Tensor& xt, const at::Tensor& x0,
                         const at::Tensor& t) {
  const NoiseKernel& kernel = process.kernel();
  const Reverse reverse = process.options().reverse;
  const at::Tensor first = t.le(1);
  // The last step has a term of its own; half a step in its place keeps all numbers finite.
  const at::Tensor before = at::where(first, t / 2, t - 1);
  const at::Tensor divergence = kernel.divergence(log_p0, xt, x0, before, t, reverse);
  at::Tensor last = surprise;
  if (process.options().first_term == FirstTerm::reverse) {
    const at::Tensor end = at::where(first, t, at::ones_like(t));
    const at::Tensor log_p = kernel.log_reverse(log_p0, xt, at::zeros_like(t), end, reverse);
    last = surprise_of(log_p, x0);
  }
  return at::where(against_elements(first, xt.dim()), last, divergence) * process.horizon();
}

// Score entropy over uniform noise: logits are ln p_t(y) / p_t(x), 0 at x itself.
at::Tensor uniform_score_entropy(const SymbolProcess& process, const at::Tensor& logits,
                                 const at::Tensor& xt, const at::Tensor& x0, const at::Tensor& t) {
  const NoiseKernel& kernel = process.kernel();
  const at::Tensor rates = kernel.rates_into(xt, t).to(logits.scalar_type());
  const at::Tensor marginal = kernel.marginal(x0.clamp_min(0), t);
  const at::Tensor truth = (marginal / entry(marginal, xt).unsqueeze(-1)).to(logits.scalar_type());
  const at::Tensor terms = logits.exp() - truth * logits + truth * (truth.log() - 1);
  return (rates * terms).sum(-1) * x0.ge(0);
}

}  // namespace

SymbolPrediction SymbolPrediction::of(const at::Tensor& logits, const at::Tensor& x0) {
  return {[logits] { return logits; },
          [logits, x0] { return surprise_of(logits.log_softmax(-1), x0); }};
}

void require_objective(const SymbolProcess& process, const SymbolObjectiveOptions& options) {
  const bool masks = process.absorbing() != nullptr;
  require_option(options.label_smoothing >= 0 && options.label_smoothing < 1,
                 "label_smoothing must be in [0, 1), got {}", options.label_smoothing);
  require_option(options.cross_entropy_weight >= 0, "cross_entropy_weight must not be negative");
  require_option(
      options.weight == MaskWeight::bound || (masks && options.target == SymbolTarget::bound),
      "symbols.weight = \"{}\" is for the bound of masks: symbols.noise = "
      "\"absorbing\" and symbols.target = \"bound\"",
      name_of(options.weight));
  require_option(options.target != SymbolTarget::ratio_matching || !masks,
                 "symbols.target = \"ratio-matching\" is not for masks, which say nothing of a "
                 "symbol: take symbols.noise = \"uniform\"");
  require_option(options.target != SymbolTarget::score_entropy || process.options().continuous,
                 "symbols.target = \"score-entropy\" needs symbols.continuous = true");
  require_option(options.target != SymbolTarget::score_entropy || masks ||
                     process.options().noise == SymbolNoise::uniform,
                 "symbols.target = \"score-entropy\" needs symbols.noise = \"absorbing\" (without "
                 "a mask_value) or \"uniform\"");
  require_option(options.target != SymbolTarget::one_jump ||
                     (!masks && process.kernel().has_rates() && process.options().continuous),
                 "symbols.target = \"one-jump\" needs symbols.continuous = true and noise that "
                 "jumps between symbols: symbols.noise = \"target-rate\" or \"uniform\"");
}

at::Tensor log_estimate(const SymbolProcess& process, SymbolTarget target, const at::Tensor& logits,
                        const at::Tensor& xt, double t) {
  if (target != SymbolTarget::score_entropy || process.absorbing() != nullptr)
    return logits.log_softmax(-1);
  // The ratios, normalised, are p_t = alpha p0 + (1 - alpha) / K.
  const at::Tensor time = at::scalar_tensor(t, logits.options().dtype(at::kDouble));
  const at::Tensor marginal = logits.scatter(-1, xt.unsqueeze(-1), 0.0).to(at::kDouble).softmax(-1);
  // The chance of a symbol that differs from the original one: (1 - alpha) / K.
  const at::Tensor first =
      at::one_hot(at::zeros({}, xt.options()), logits.size(-1)).to(at::kDouble);
  const at::Tensor low = process.kernel().forward(first, time).narrow(-1, -1, 1);
  const at::Tensor clean = (marginal - low).clamp_min(1e-12);
  return (clean / clean.sum(-1, /*keepdim=*/true)).log().to(logits.scalar_type());
}

at::Tensor symbol_bound(const SymbolProcess& process, const SymbolPrediction& prediction,
                        const at::Tensor& xt, const at::Tensor& x0, const at::Tensor& t) {
  if (process.absorbing() != nullptr)
    return at_masks(process, mask_weight(process, t, MaskWeight::bound), xt) *
           prediction.surprise();
  const at::Tensor log_p0 = prediction.logits().log_softmax(-1);
  const at::Tensor states = xt.clamp_min(0);
  if (process.options().continuous)
    return process.kernel().divergence_rate(log_p0, states, x0, t, process.options().reverse);
  return stepped_bound(process, log_p0, prediction.surprise(), states, x0, t);
}

at::Tensor one_jump_bound(const SymbolProcess& process, const SymbolPrediction& prediction,
                          const at::Tensor& x, const at::Tensor& x0, const at::Tensor& t) {
  constexpr double kLeastChance = 1e-9;  // least chance of the state itself, a divisor
  const NoiseKernel& kernel = process.kernel();
  const at::Tensor log_p0 = prediction.logits().log_softmax(-1);
  const at::ScalarType dtype = log_p0.scalar_type();
  const at::Tensor states = x.clamp_min(0);
  const int64_t rows = x.size(0), symbols = kernel.symbols();
  const auto per_element = [&](const at::Tensor& table, const at::Tensor& at) {
    return table.gather(1, at.reshape({rows, -1})).view(at.sizes());  // [B, K], [B, ...]
  };

  at::Tensor flow, log_truth, share;
  {
    const c10::NoGradGuard no_grad;
    const at::Tensor clean = kernel.marginal(x0.clamp_min(0), t);
    const at::Tensor truth =
        clean / entry(clean, states).clamp_min(kLeastChance).unsqueeze(-1);  // [B, ..., K]
    const at::Tensor all_flow = kernel.rates_into(states, t) * truth;
    // The rate at which a sample leaves its state from before the jump, if this element was y then.
    const at::Tensor all = at::arange(symbols, x.options()).expand({rows, symbols});
    const at::Tensor leaving = kernel.rates_from(all, t).sum(-1);  // [B, K]
    const at::Tensor here = per_element(leaving, states) * x.ge(0);
    const at::Tensor others = against_elements(here.reshape({rows, -1}).sum(1), x.dim()) - here;
    std::vector<int64_t> shape(static_cast<size_t>(x.dim()) + 1, 1);
    shape.front() = rows;
    shape.back() = symbols;
    const at::Tensor of_x =
        (all_flow / (others.unsqueeze(-1) + leaving.view(shape))).sum(-1) * x.ge(0);
    share = against_elements(of_x.reshape({rows, -1}).sum(1), x.dim()).to(dtype);
    log_truth = truth.log().to(dtype);
    flow = all_flow.to(dtype);
  }
  const at::Tensor log_ratio = kernel.log_ratios(log_p0, states, t, process.options().reverse);
  const at::Tensor rates = kernel.rates_into(states, t).to(dtype);
  const at::Tensor zero = at::zeros({}, flow.options());
  const at::Tensor out = at::where(rates.gt(0), rates * log_ratio.exp(), zero).sum(-1);
  const at::Tensor back =
      at::where(flow.gt(0), flow * (log_truth - 1 - log_ratio), zero).sum(-1) / share;
  return (out + back) * x0.ge(0);
}

SymbolLoss symbol_objective(const SymbolProcess& process, const SymbolPrediction& prediction,
                            const at::Tensor& xt, const at::Tensor& x0, const at::Tensor& t,
                            const at::Tensor& mask, const SymbolObjectiveOptions& options) {
  const bool masks = process.absorbing() != nullptr;
  const auto mean = [&](const at::Tensor& values) { return masked_mean(values, mask); };
  const bool smoothed = options.label_smoothing > 0;
  at::Tensor logits;  // computed once
  SymbolPrediction cached = prediction;
  cached.logits = [&] {
    if (!logits.defined()) logits = prediction.logits();
    return logits;
  };

  const at::Tensor surprise = prediction.surprise();
  cached.surprise = [&] { return surprise; };
  at::Tensor cross_entropy = surprise;
  if (smoothed) {
    const at::Tensor spread = cached.logits().log_softmax(-1).mean(-1).neg() * x0.ge(0);
    cross_entropy = surprise * (1 - options.label_smoothing) + spread * options.label_smoothing;
  }

  at::Tensor total, bound;
  switch (options.target) {
    case SymbolTarget::bound:
      if (masks) {
        total = at_masks(process, mask_weight(process, t, options.weight), xt) * cross_entropy;
      } else {
        total = bound = symbol_bound(process, cached, xt, x0, t);
      }
      break;
    case SymbolTarget::cross_entropy:
      total = cross_entropy;
      break;
    case SymbolTarget::score_entropy:
      if (masks) {
        // Scores are logits - ln(e^sigma - 1) - ln K. Their score entropy is the cross-entropy of
        // their softmax plus, with L = ln mean e^logit, e^L - 1 - L, which makes them normalised.
        const at::Tensor size = cached.logits().logsumexp(-1) -
                                std::log(static_cast<double>(process.kernel().symbols()));
        const at::Tensor lack = (at::expm1(size) - size) * x0.ge(0);
        total = at_masks(process, mask_weight(process, t, MaskWeight::bound), xt) *
                (cross_entropy + lack);
      } else {
        total = uniform_score_entropy(process, cached.logits(), xt.clamp_min(0), x0, t);
      }
      break;
    case SymbolTarget::one_jump:
      total = bound = one_jump_bound(process, cached, xt, x0, t);
      break;
    case SymbolTarget::ratio_matching: {
      const at::Tensor marginal = process.kernel().forward(cached.logits().softmax(-1), t);
      total = entry(marginal, xt.clamp_min(0)).log().neg() * x0.ge(0);
      break;
    }
  }
  const bool bounded =
      options.target == SymbolTarget::bound || options.target == SymbolTarget::one_jump;
  if (bounded && options.cross_entropy_weight > 0)
    total = total + options.cross_entropy_weight * cross_entropy;
  if (!bound.defined()) {
    const c10::NoGradGuard no_grad;
    const bool scores = options.target == SymbolTarget::score_entropy;
    bound = masks ? at_masks(process, mask_weight(process, t, MaskWeight::bound), xt) *
                        surprise.detach()
            : scores ? total.detach()
                     : symbol_bound(process, cached, xt, x0, t).detach();
  }
  return {mean(total), mean(bound.detach()), mean(surprise.detach())};
}

}  // namespace tessera
