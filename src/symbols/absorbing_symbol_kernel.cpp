#include "base/require.h"
#include "symbols/categorical.h"

#include <tessera/symbols/noise_kernel.h>

#include <ATen/ATen.h>

namespace tessera {

AbsorbingSymbolKernel::AbsorbingSymbolKernel(int64_t symbols, int64_t covered,
                                             const Survival& survival)
    : symbols_(symbols), covered_(covered), survival_(survival) {
  require_option(0 <= covered && covered < symbols,
                 "symbols.mask_value must be one of the symbols 0 to {}, or -1, got {}",
                 symbols - 1, covered);
}

at::Tensor AbsorbingSymbolKernel::draw(const at::Tensor& x, const at::Tensor& s,
                                       const at::Tensor& t, const at::Tensor& u) const {
  const at::Tensor kept = (survival_.sigma(s) - survival_.sigma(t)).exp();
  return at::where(u.lt(against_elements(kept, x.dim())), x, covered_);
}

at::Tensor AbsorbingSymbolKernel::start(const at::Tensor& u) const {
  return at::full(u.sizes(), covered_, u.options().dtype(at::kLong));
}

at::Tensor AbsorbingSymbolKernel::log_from(const at::Tensor& x, const at::Tensor& s,
                                           const at::Tensor& t) const {
  const at::Tensor difference = survival_.sigma(s) - survival_.sigma(t);
  const at::Tensor kept = against_elements(difference.exp(), x.dim() + 1);
  const at::Tensor lost = against_elements(at::expm1(difference).neg(), x.dim() + 1);
  const at::Tensor covered = x.eq(covered_).unsqueeze(-1).to(at::kDouble);
  return (at::one_hot(x, symbols_).to(at::kDouble) * kept + covered * lost).log();
}

at::Tensor AbsorbingSymbolKernel::forward(const at::Tensor& p, const at::Tensor& t) const {
  const at::Tensor alpha = against_elements(survival_.alpha(t), p.dim()).to(p.scalar_type());
  const at::Tensor lost = against_elements(survival_.lost(t), p.dim()).to(p.scalar_type());
  const at::Tensor place = at::arange(symbols_, p.options()).eq(static_cast<double>(covered_));
  return p * alpha + p.sum(-1, /*keepdim=*/true) * lost * place;
}

at::Tensor AbsorbingSymbolKernel::rates_from(const at::Tensor& x, const at::Tensor& t) const {
  const at::Tensor rate = against_elements(survival_.sigma_rate(t), x.dim() + 1);
  const at::Tensor place = at::arange(symbols_, x.options()).eq(covered_);
  return rate * place.logical_and(x.ne(covered_).unsqueeze(-1));
}

at::Tensor AbsorbingSymbolKernel::rates_into(const at::Tensor& x, const at::Tensor& t) const {
  const at::Tensor rate = against_elements(survival_.sigma_rate(t), x.dim() + 1);
  const at::Tensor place = at::arange(symbols_, x.options()).ne(covered_);
  return rate * place.logical_and(x.eq(covered_).unsqueeze(-1));
}

}  // namespace tessera
