#include <tessera/process/objective.h>

#include "base/require.h"
#include "process/masked_mean.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace tessera {
at::Tensor velocity_weight(const Process& process, const Noised& noised, double cap) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tau = noised.tau.to(at::kDouble);
  const auto [u, v] = process.trajectory().at(tau);
  const auto [du, dv] = process.trajectory().derivatives(tau);
  const at::Tensor field = noised.speed.to(at::kDouble) * (du - u * dv / v);
  return field.square().clamp_max(cap).to(noised.tau.scalar_type());
}

at::Tensor noise_weight(const Process& process, const Noised& noised, double cap) {
  const c10::NoGradGuard no_grad;
  const auto [u, v] = process.trajectory().at(noised.tau.to(at::kDouble));
  return (u / v).square().clamp_max(cap).to(noised.tau.scalar_type());
}

Loss objective(const Process& process, const Codebook& codebook, const Noised& noised,
               const at::Tensor& x0_hat, const at::Tensor& x0, const at::Tensor& labels,
               const at::Tensor& mask, const ObjectiveOptions& options) {
  require_floating(x0, "x0");
  require_floating(x0_hat, "x0_hat");
  require(x0.dim() >= 2, "x0 must have shape [B, ..., d], got {}", shape_text(x0.sizes()));
  require_option(
      options.velocity_cap > 0 && options.mse_weight >= 0 && options.cross_entropy_weight >= 0,
      "objective weights must be at least 0 and velocity_cap above 0, got {}, {} and {}",
      options.mse_weight, options.cross_entropy_weight, options.velocity_cap);
  require_option(options.terminal_weight >= 0, "terminal_weight must be at least 0, got {}",
                 options.terminal_weight);
  require_option(options.label_smoothing >= 0 && options.label_smoothing < 1,
                 "label_smoothing must be in [0, 1), got {}", options.label_smoothing);
  require_option(options.logit_scale > 0 && std::isfinite(options.logit_scale),
                 "logit_scale must be a positive number, got {}", options.logit_scale);
  require_shape(x0_hat, x0.sizes(), "x0_hat");
  require_same_device(x0_hat, x0.device(), "x0_hat");
  require_shape(labels, x0.sizes().slice(0, x0.dim() - 1), "labels");
  require_shape(noised.tau, labels.sizes(), "noised.tau");
  require_shape(noised.speed, labels.sizes(), "noised.speed");
  check_finite(x0_hat, "x0_hat");
  check_finite(x0, "x0");
  if (mask.defined()) {
    require_shape(mask, labels.sizes(), "mask");
    require_same_dtype(mask, at::kBool, "mask");
    require_same_device(mask, x0.device(), "mask");
  }

  const at::Tensor squared = (x0_hat - x0).square();
  at::Tensor error = options.dims == Dims::mean ? squared.mean(-1) : squared.sum(-1);
  if (options.target == Target::velocity)
    error = error * velocity_weight(process, noised, options.velocity_cap);
  else if (options.target == Target::noise)
    error = error * noise_weight(process, noised, options.velocity_cap);

  Loss loss;
  loss.mse = masked_mean(error, mask);
  loss.total = options.mse_weight * loss.mse;
  if (options.cross_entropy_weight != 0) {
    at::Tensor rounded = options.rounding == Rounding::estimate ? x0_hat : x0;
    if (options.rounding == Rounding::clean_noised) {
      require_shape(noised.eps, x0.sizes(), "noised.eps");
      rounded = x0 + process.trajectory().v(1.0) * noised.eps;
    }
    if (options.logit_scale != 1) rounded = rounded * options.logit_scale;
    loss.cross_entropy =
        masked_mean(codebook.cross_entropy(rounded, labels, options.label_smoothing), mask);
    loss.total = loss.total + options.cross_entropy_weight * loss.cross_entropy;
  } else {
    loss.cross_entropy = at::zeros_like(loss.mse);
  }
  if (options.terminal_weight != 0) {
    const double left = process.trajectory().u(process.trajectory().horizon());
    loss.total = loss.total +
                 options.terminal_weight * left * left * masked_mean(x0.square().mean(-1), mask);
  }
  return loss;
}

}  // namespace tessera
