#include "base/require.h"
#include "symbols/categorical.h"

#include <tessera/symbols/noise_kernel.h>

#include <ATen/ATen.h>

#include <cmath>

namespace tessera {

UniformKernel::UniformKernel(int64_t symbols, const Survival& survival)
    : symbols_(symbols), survival_(survival) {
  require(symbols >= 1, "a noise kernel needs symbols, got {}", symbols);
}

at::Tensor UniformKernel::draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                               const at::Tensor& u) const {
  const at::Tensor difference = survival_.sigma(s) - survival_.sigma(t);
  const at::Tensor kept = against_elements(difference.exp(), x.dim());
  const at::Tensor lost = against_elements(at::expm1(difference).neg(), x.dim());
  // The part of u above `kept` selects the new symbol, which may be the old one again.
  const at::Tensor other = ((u - kept) / lost * static_cast<double>(symbols_)).to(at::kLong);
  return at::where(u.lt(kept), x, other.clamp(0, symbols_ - 1));
}

at::Tensor UniformKernel::start(const at::Tensor& u) const {
  return (u * static_cast<double>(symbols_)).to(at::kLong).clamp_max(symbols_ - 1);
}

at::Tensor UniformKernel::log_from(const at::Tensor& x, const at::Tensor& s,
                                   const at::Tensor& t) const {
  const at::Tensor difference = survival_.sigma(s) - survival_.sigma(t);
  const at::Tensor kept = against_elements(difference.exp(), x.dim() + 1);
  const at::Tensor each =
      against_elements(at::expm1(difference).neg() / static_cast<double>(symbols_), x.dim() + 1);
  return (at::one_hot(x, symbols_).to(at::kDouble) * kept + each).log();
}

at::Tensor UniformKernel::forward(const at::Tensor& p, const at::Tensor& t) const {
  const at::Tensor alpha = against_elements(survival_.alpha(t), p.dim()).to(p.scalar_type());
  const at::Tensor each =
      against_elements(survival_.lost(t) / static_cast<double>(symbols_), p.dim())
          .to(p.scalar_type());
  return p * alpha + p.sum(-1, /*keepdim=*/true) * each;
}

at::Tensor UniformKernel::rates_from(const at::Tensor& x, const at::Tensor& t) const {
  const at::Tensor rate =
      against_elements(survival_.sigma_rate(t) / static_cast<double>(symbols_), x.dim() + 1);
  return (1 - at::one_hot(x, symbols_).to(at::kDouble)) * rate;
}

at::Tensor UniformKernel::rates_into(const at::Tensor& x, const at::Tensor& t) const {
  return rates_from(x, t);  // it is symmetric
}

at::Tensor UniformKernel::draw_reverse(const at::Tensor& log_p0, const at::Tensor& xt,
                                       const at::Tensor& s, const at::Tensor& t,
                                       const at::Tensor& u, Reverse reverse) const {
  // One draw of x0 is enough: the rest is a choice between few symbols.
  const auto count = static_cast<double>(symbols_);
  const at::Tensor x0 = draw_categorical(log_p0, u[0]);
  const auto spread = [&](const at::Tensor& value) { return against_elements(value, xt.dim()); };
  const at::Tensor difference = survival_.sigma(s) - survival_.sigma(t);
  const at::Tensor kept = spread(difference.exp());  // by s .. t
  const at::Tensor moved = spread(at::expm1(difference).neg());
  const at::Tensor alpha = spread(survival_.alpha(s)), lost = spread(survival_.lost(s));

  at::Tensor stay, take, any;  // weights of x_t, of x0, of any symbol
  if (reverse == Reverse::plug_in) {
    const at::Tensor here = entry(log_p0, xt).to(at::kDouble).exp();
    stay = kept * (alpha * here + lost / count);
    take = moved * alpha / count;
    any = moved * lost / count;
  } else {
    const at::Tensor same = x0.eq(xt).to(at::kDouble);
    stay = kept * (alpha * same + lost / count);
    take = moved * alpha / count;
    any = moved * lost / count;
  }
  const at::Tensor place = u[1] * (stay + take + any);
  const at::Tensor drawn =
      ((place - stay - take) / any * count).to(at::kLong).clamp(0, symbols_ - 1);
  return at::where(place.lt(stay), xt, at::where(place.lt(stay + take), x0, drawn));
}

at::Tensor UniformKernel::divergence(const at::Tensor& log_p0, const at::Tensor& xt,
                                     const at::Tensor& x0, const at::Tensor& s, const at::Tensor& t,
                                     Reverse reverse) const {
  if (reverse == Reverse::mean) return NoiseKernel::divergence(log_p0, xt, x0, s, t, reverse);
  // q has three different values: at x_t, at x_0, and anywhere else. So has log q(x_t | x_s).
  const auto count = static_cast<double>(symbols_);
  const auto spread = [&](const at::Tensor& value) { return against_elements(value, xt.dim()); };
  const at::Tensor difference = survival_.sigma(s) - survival_.sigma(t);
  const at::Tensor kept = spread(difference.exp());
  const at::Tensor moved = spread(at::expm1(difference).neg() / count);
  const at::Tensor alpha = spread(survival_.alpha(s)), lost = spread(survival_.lost(s) / count);
  const at::Tensor all = spread(survival_.alpha(t)), all_lost = spread(survival_.lost(t) / count);

  const at::Tensor known = x0.ge(0);
  const at::Tensor clean = x0.clamp_min(0);
  const at::Tensor same = clean.eq(xt);
  const at::Tensor normaliser = all * same.to(at::kDouble) + all_lost;
  const at::Tensor q_other = moved * lost / normaliser;
  const at::Tensor q_clean =
      at::where(same, (kept + moved) * (alpha + lost), moved * (alpha + lost)) / normaliser;
  const at::Tensor q_here = at::where(same, q_clean, (kept + moved) * lost / normaliser);
  const at::Tensor different = same.logical_not().to(at::kDouble);
  const at::Tensor others = count - 1 - different;
  // An event of probability 0 adds 0, not 0 * -inf: at s = 0 there are no other symbols.
  const auto x_log_x = [](const at::Tensor& x) { return at::xlogy(x, x); };
  const at::Tensor entropy =
      x_log_x(q_clean) + different * x_log_x(q_here) + others * x_log_x(q_other);
  const at::Tensor from = at::xlogy(q_here, kept + moved) + at::xlogy(1 - q_here, moved);

  const at::ScalarType dtype = log_p0.scalar_type();
  const auto cast = [&](const at::Tensor& value) { return value.to(dtype); };
  const at::Tensor log_blend =
      (log_p0.exp() * cast(alpha).unsqueeze(-1) + cast(lost).unsqueeze(-1)).log();
  const at::Tensor expected = cast(q_other) * log_blend.sum(-1) +
                              cast(q_clean - q_other) * entry(log_blend, clean) +
                              cast(different * (q_here - q_other)) * entry(log_blend, xt);
  const at::Tensor log_normaliser = (entry(log_p0, xt).exp() * cast(all) + cast(all_lost)).log();
  return (cast(entropy - from) - expected + log_normaliser) * known;
}

at::Tensor UniformKernel::divergence_rate(const at::Tensor& log_p0, const at::Tensor& xt,
                                          const at::Tensor& x0, const at::Tensor& t,
                                          Reverse reverse) const {
  if (reverse == Reverse::mean) return NoiseKernel::divergence_rate(log_p0, xt, x0, t, reverse);
  const auto count = static_cast<double>(symbols_);
  const at::ScalarType dtype = log_p0.scalar_type();
  const auto spread = [&](const at::Tensor& value) { return against_elements(value, xt.dim()); };
  const at::Tensor alpha = spread(survival_.alpha(t)), each = spread(survival_.lost(t) / count);
  const at::Tensor rate = (spread(survival_.sigma_rate(t)) / count).to(dtype);

  // Ratios are p_y / p_x with p = alpha * p0 + (1 - alpha) / K, the true ones those of x0 alone:
  // high / low from another symbol to x0, low / high away from it, 1 between others.
  const at::Tensor known = x0.ge(0);
  const at::Tensor clean = x0.clamp_min(0);
  const at::Tensor same = clean.eq(xt);
  const at::Tensor high = (alpha + each).to(dtype), low = each.to(dtype);
  const at::Tensor blend = log_p0.exp() * alpha.to(dtype).unsqueeze(-1) + low.unsqueeze(-1);
  const at::Tensor log_blend = blend.log();
  const at::Tensor here = entry(log_blend, xt), there = entry(log_blend, clean);

  // sum over y != x of ratio_y - rho_y log ratio_y + rho_y (log rho_y - 1)
  const at::Tensor ratios = blend.sum(-1) * here.neg().exp() - 1;
  const at::Tensor logs = log_blend.sum(-1) - here * count;  // y = x adds nothing
  const at::Tensor down = low / high, up = high / low;
  const at::Tensor if_same = ratios - down * logs + (count - 1) * down * (down.log() - 1);
  const at::Tensor if_not =
      ratios - logs - (up - 1) * (there - here) - (count - 2) + up * (up.log() - 1);
  return at::where(same, if_same, if_not) * rate * known;
}

}  // namespace tessera
