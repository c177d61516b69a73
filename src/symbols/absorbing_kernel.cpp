#include "base/require.h"
#include "symbols/categorical.h"

#include <tessera/symbols/noise_kernel.h>

#include <ATen/ATen.h>

namespace tessera {

AbsorbingKernel::AbsorbingKernel(int64_t symbols, const Survival& survival)
    : symbols_(symbols), survival_(survival) {
  require(symbols >= 1, "a noise kernel needs symbols, got {}", symbols);
}

at::Tensor AbsorbingKernel::draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                                 const at::Tensor& u) const {
  const at::Tensor kept = (survival_.sigma(s) - survival_.sigma(t)).exp();
  return at::where(u.lt(against_elements(kept, x.dim())), x, mask());
}

at::Tensor AbsorbingKernel::start(const at::Tensor& u) const {
  return at::full(u.sizes(), mask(), u.options().dtype(at::kLong));
}

at::Tensor AbsorbingKernel::log_from(const at::Tensor& x, const at::Tensor& s,
                                     const at::Tensor& t) const {
  const at::Tensor kept = (survival_.sigma(s) - survival_.sigma(t)).exp();
  const at::Tensor alpha = against_elements(kept, x.dim() + 1);
  const at::Tensor same = at::one_hot(x, states()).to(at::kDouble);
  const at::Tensor covered = x.eq(mask()).unsqueeze(-1);
  // A mask was a mask before, or any symbol.
  at::Tensor into_mask = (1 - alpha).expand_as(same).clone();
  into_mask.select(-1, mask()).fill_(1);
  return at::where(covered, into_mask, same * alpha).log();
}

at::Tensor AbsorbingKernel::forward(const at::Tensor& p, const at::Tensor& t) const {
  const at::Tensor alpha = against_elements(survival_.alpha(t), p.dim()).to(p.scalar_type());
  const at::Tensor lost = against_elements(survival_.lost(t), p.dim()).to(p.scalar_type());
  return at::cat({p * alpha, p.sum(-1, /*keepdim=*/true) * lost}, -1);
}

at::Tensor AbsorbingKernel::rates_from(const at::Tensor& x, const at::Tensor& t) const {
  const at::Tensor rate = against_elements(survival_.sigma_rate(t), x.dim());
  at::Tensor rates = at::zeros({1}, rate.options()).expand(x.sizes()).unsqueeze(-1);
  rates = at::constant_pad_nd(rates, {symbols_, 0});
  rates.select(-1, mask()).copy_(at::where(x.eq(mask()), 0.0, rate));
  return rates;
}

at::Tensor AbsorbingKernel::rates_into(const at::Tensor& x, const at::Tensor& t) const {
  const at::Tensor rate = against_elements(survival_.sigma_rate(t), x.dim());
  const at::Tensor covered = at::where(x.eq(mask()), rate, 0.0).unsqueeze(-1);
  return at::constant_pad_nd(covered.expand_as(covered).repeat_interleave(symbols_, -1), {0, 1});
}

at::Tensor AbsorbingKernel::uncovered(const at::Tensor& s, const at::Tensor& t) const {
  // (alpha_s - alpha_t) / (1 - alpha_t)
  return survival_.alpha(s) * at::expm1(survival_.sigma(s) - survival_.sigma(t)).neg() /
         survival_.lost(t);
}

at::Tensor AbsorbingKernel::draw_reverse(const at::Tensor& log_p0, const at::Tensor& xt,
                                         const at::Tensor& s, const at::Tensor& t,
                                         const at::Tensor& u, Reverse /*reverse*/) const {
  const at::Tensor now =
      xt.eq(mask()).logical_and(u[1].lt(against_elements(uncovered(s, t), xt.dim())));
  return at::where(now, draw_categorical(log_p0, u[0]), xt);
}

at::Tensor AbsorbingKernel::divergence(const at::Tensor& log_p0, const at::Tensor& xt,
                                       const at::Tensor& x0, const at::Tensor& s,
                                       const at::Tensor& t, Reverse /*reverse*/) const {
  const at::Tensor weight = against_elements(uncovered(s, t), xt.dim()).to(log_p0.scalar_type());
  return at::where(xt.eq(mask()), weight, at::zeros({}, weight.options())) *
         surprise_of(log_p0, x0);
}

at::Tensor AbsorbingKernel::divergence_rate(const at::Tensor& log_p0, const at::Tensor& xt,
                                            const at::Tensor& x0, const at::Tensor& t,
                                            Reverse /*reverse*/) const {
  const at::Tensor weight =
      against_elements(survival_.hazard(t), xt.dim()).to(log_p0.scalar_type());
  return at::where(xt.eq(mask()), weight, at::zeros({}, weight.options())) *
         surprise_of(log_p0, x0);
}

}  // namespace tessera
