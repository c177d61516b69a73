#include <tessera/process/estimate.h>

#include "base/require.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <limits>

namespace tessera {

void require_estimate(const Codebook& codebook, Estimate estimate) {
  require_option(estimate != Estimate::mean || codebook.has_mean(),
                 "the estimate 'mean' needs codes that are trained with a cross-entropy of "
                 "rounding: bits and pixels have none; take raw, nearest or rescaled");
}

at::Tensor estimate_of(const Codebook& codebook, const at::Tensor& x0_hat, Estimate estimate,
                       double logit_scale) {
  if (estimate == Estimate::raw) return x0_hat;
  const c10::NoGradGuard no_grad;
  if (estimate == Estimate::mean) return codebook.mean(x0_hat, logit_scale);
  const at::Tensor code = codebook.encode(codebook.decode(x0_hat)).to(x0_hat.scalar_type());
  if (estimate == Estimate::nearest) return code;
  // An estimate of length 0 points nowhere and stays what it is.
  const at::Tensor length =
      at::norm(x0_hat, 2, {-1}, /*keepdim=*/true).clamp_min(std::numeric_limits<float>::min());
  return x0_hat * (at::norm(code, 2, {-1}, /*keepdim=*/true) / length);
}

}  // namespace tessera
