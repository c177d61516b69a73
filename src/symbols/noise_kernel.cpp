#include <tessera/symbols/noise_kernel.h>

#include "base/infinity.h"
#include "symbols/categorical.h"

#include <ATen/ATen.h>

#include <limits>

namespace tessera {
namespace {

// The logarithm, with a very small number in place of 0: the gradient of log(0) would not be
// finite.
at::Tensor log_of(const at::Tensor& p) {
  const double least = p.scalar_type() == at::kDouble ? std::numeric_limits<double>::min()
                                                      : std::numeric_limits<float>::min();
  return p.clamp_min(least).log();
}

// For terms like x log x: 0 if the weight is 0.
at::Tensor weighted(const at::Tensor& weight, const at::Tensor& value) {
  return at::where(weight.gt(0), weight * value, at::zeros({}, weight.options()));
}

}  // namespace

at::Tensor NoiseKernel::marginal(const at::Tensor& x0, const at::Tensor& t) const {
  return forward(at::one_hot(x0, symbols()).to(at::kDouble), t);
}

at::Tensor NoiseKernel::log_posterior(const at::Tensor& xt, const at::Tensor& x0,
                                      const at::Tensor& s, const at::Tensor& t) const {
  const at::Tensor from = log_from(xt, s, t);
  return (from + marginal(x0, s).log()).log_softmax(-1);
}

at::Tensor NoiseKernel::log_reverse(const at::Tensor& log_p0, const at::Tensor& xt,
                                    const at::Tensor& s, const at::Tensor& t,
                                    Reverse reverse) const {
  const at::Tensor from = log_from(xt, s, t).to(log_p0.scalar_type());
  if (reverse == Reverse::plug_in) return (from + log_of(forward(log_p0.exp(), s))).log_softmax(-1);
  // sum_j p_j q(x_s | x_t, j) = q(x_t | x_s) sum_j (p_j / q(x_t | j)) q(x_s | j)
  const at::Tensor likelihood = log_from(xt, at::zeros_like(t), t).to(log_p0.scalar_type());
  const at::Tensor possible = likelihood.narrow(-1, 0, symbols()).gt(-kInfinity);
  const at::Tensor weight = (log_p0 - likelihood.narrow(-1, 0, symbols()))
                                .masked_fill(possible.logical_not(), -kInfinity);
  const at::Tensor largest = weight.amax(-1, /*keepdim=*/true).detach();
  return (from + log_of(forward((weight - largest).exp(), s)) + largest).log_softmax(-1);
}

at::Tensor NoiseKernel::log_ratios(const at::Tensor& log_p0, const at::Tensor& xt,
                                   const at::Tensor& t, Reverse reverse) const {
  if (reverse == Reverse::plug_in) {
    const at::Tensor log_pt = log_of(forward(log_p0.exp(), t));
    return log_pt - entry(log_pt, xt).unsqueeze(-1);
  }
  const at::Tensor likelihood =
      log_from(xt, at::zeros_like(t), t).to(log_p0.scalar_type()).narrow(-1, 0, symbols());
  const at::Tensor weight =
      (log_p0 - likelihood).masked_fill(likelihood.le(-kInfinity), -kInfinity);
  const at::Tensor largest = weight.amax(-1, /*keepdim=*/true).detach();
  return log_of(forward((weight - largest).exp(), t)) + largest;
}

at::Tensor NoiseKernel::reverse_rates(const at::Tensor& log_p0, const at::Tensor& xt,
                                      const at::Tensor& t, Reverse reverse) const {
  const at::Tensor rates = rates_into(xt, t).to(log_p0.scalar_type());
  return weighted(rates, log_ratios(log_p0, xt, t, reverse).exp());
}

at::Tensor NoiseKernel::draw_reverse(const at::Tensor& log_p0, const at::Tensor& xt,
                                     const at::Tensor& s, const at::Tensor& t, const at::Tensor& u,
                                     Reverse reverse) const {
  return draw_categorical(log_reverse(log_p0, xt, s, t, reverse), u[0]);
}

at::Tensor NoiseKernel::divergence(const at::Tensor& log_p0, const at::Tensor& xt,
                                   const at::Tensor& x0, const at::Tensor& s, const at::Tensor& t,
                                   Reverse reverse) const {
  const at::Tensor known = x0.ge(0);
  const at::Tensor log_q =
      log_posterior(xt, x0.clamp_min(0), s, t).to(log_p0.scalar_type()).detach();
  const at::Tensor q = log_q.exp();
  const at::Tensor log_p = log_reverse(log_p0, xt, s, t, reverse);
  return (weighted(q, log_q) - weighted(q, log_p)).sum(-1) * known;
}

at::Tensor NoiseKernel::divergence_rate(const at::Tensor& log_p0, const at::Tensor& xt,
                                        const at::Tensor& x0, const at::Tensor& t,
                                        Reverse reverse) const {
  // Score entropy of the ratios, weighted by the rates of jumps to x_t.
  const at::Tensor known = x0.ge(0);
  const at::Tensor rates = rates_into(xt, t).to(log_p0.scalar_type());
  const at::Tensor clean = marginal(x0.clamp_min(0), t);
  const at::Tensor truth =
      (clean / entry(clean, xt).unsqueeze(-1)).to(log_p0.scalar_type()).detach();
  const at::Tensor log_ratio = log_ratios(log_p0, xt, t, reverse);
  const at::Tensor terms =
      log_ratio.exp() - weighted(truth, log_ratio) + weighted(truth, truth.log() - 1);
  return weighted(rates, terms).sum(-1) * known;
}

}  // namespace tessera
