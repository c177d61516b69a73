#include <tessera/symbols/survival.h>

#include "base/require.h"
#include "symbols/device_copies.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace tessera {
namespace {

constexpr double kHalfPi = std::numbers::pi / 2;
constexpr double kMostLost = 0.999;  // by one step of a cosine

// The share that every step t = 1 .. T keeps of the one before.
std::vector<double> kept_by_steps(SurvivalKind kind, int64_t horizon) {
  std::vector<double> kept;
  const auto f = [&](int64_t t) {
    const double s = static_cast<double>(t) / static_cast<double>(horizon);
    const double c = std::cos((s + 0.008) / 1.008 * kHalfPi);
    return kind == SurvivalKind::squared_cosine ? c * c : c;
  };
  for (int64_t t = 1; t <= horizon; ++t) {
    if (kind == SurvivalKind::d3pm_linear) {
      const double share =
          horizon == 1 ? 1 : static_cast<double>(t - 1) / static_cast<double>(horizon - 1);
      kept.push_back(1 - (0.02 + share * (1 - 0.02)));
    } else {
      kept.push_back(std::max(f(t) / f(t - 1), 1 - kMostLost));
    }
  }
  return kept;
}

bool made_of_steps(SurvivalKind kind) {
  return kind == SurvivalKind::d3pm_cosine || kind == SurvivalKind::squared_cosine ||
         kind == SurvivalKind::d3pm_linear;
}

}  // namespace

Survival::Survival(const SurvivalOptions& options) : options_(options) {
  require_option(options.horizon >= 1, "the horizon must be at least 1, got {}", options.horizon);
  require_option(options.epsilon >= 0 && options.epsilon < 1,
                 "epsilon of a survival schedule must be in [0, 1), got {}", options.epsilon);
  require_option(0 < options.sigma_min && options.sigma_min < options.sigma_max,
                 "sigma_min must be positive and below sigma_max, got {} and {}", options.sigma_min,
                 options.sigma_max);
  require_option(options.rate > 0, "the rate of a survival schedule must be positive, got {}",
                 options.rate);
  if (!made_of_steps(options.kind)) return;
  std::vector<double> sigma{0};
  for (const double kept : kept_by_steps(options.kind, options.horizon))
    sigma.push_back(sigma.back() - std::log(kept));
  table_ = std::make_shared<DeviceCopies>(at::tensor(sigma, at::kDouble));
}

at::Tensor Survival::sigma(const at::Tensor& t) const {
  const at::Tensor s = t.to(at::kDouble) / horizon();
  switch (options_.kind) {
    case SurvivalKind::linear:
      return at::log1p(-s).neg();
    case SurvivalKind::log_linear:
      return at::log1p(s * -(1 - options_.epsilon)).neg();
    case SurvivalKind::cosine:
      return alpha(t).log().neg();
    case SurvivalKind::geometric:
      return at::exp(s * std::log(options_.sigma_max / options_.sigma_min)) * options_.sigma_min;
    case SurvivalKind::sqrt_cosine:
      return (1 - at::cos(s * kHalfPi).clamp_min(0).sqrt()) * options_.rate;
    default:
      break;
  }
  const at::Tensor table = table_->on(t.device());
  const at::Tensor time = t.to(at::kDouble);
  const at::Tensor below = time.floor().clamp(0, horizon() - 1).to(at::kLong);
  const at::Tensor first = table.take(below), second = table.take(below + 1);
  // If nothing is left after the last step, 0 * inf would be NaN.
  return at::where(time.eq(below), first, first + (second - first) * (time - below));
}

at::Tensor Survival::alpha(const at::Tensor& t) const {
  if (options_.kind == SurvivalKind::cosine) {
    const at::Tensor s = t.to(at::kDouble) / horizon();
    // 1 - cos(x) = 2 sin(x / 2)^2
    return at::sin((1 - s * (1 - options_.epsilon)) * (kHalfPi / 2)).square() * 2;
  }
  return sigma(t).neg().exp();
}

at::Tensor Survival::lost(const at::Tensor& t) const {
  if (options_.kind == SurvivalKind::cosine)
    return at::cos((1 - t.to(at::kDouble) / horizon() * (1 - options_.epsilon)) * kHalfPi);
  return at::expm1(sigma(t).neg()).neg();
}

at::Tensor Survival::sigma_rate(const at::Tensor& t) const {
  const at::Tensor s = t.to(at::kDouble) / horizon();
  const double slope = 1 - options_.epsilon;
  switch (options_.kind) {
    case SurvivalKind::linear:
      return (1 - s).reciprocal();
    case SurvivalKind::log_linear:
      return slope / (1 - s * slope);
    case SurvivalKind::cosine: {
      const at::Tensor angle = (1 - s * slope) * kHalfPi;
      return at::sin(angle) * (slope * kHalfPi) / alpha(t);
    }
    case SurvivalKind::geometric:
      return sigma(t) * std::log(options_.sigma_max / options_.sigma_min);
    case SurvivalKind::sqrt_cosine: {
      const at::Tensor root = at::cos(s * kHalfPi).clamp_min(0).sqrt();
      return at::sin(s * kHalfPi) / root * (options_.rate * kHalfPi / 2);
    }
    default:
      break;
  }
  const at::Tensor table = table_->on(t.device());
  const at::Tensor step = t.to(at::kDouble).ceil().clamp(1, horizon()).to(at::kLong);
  return (table.take(step) - table.take(step - 1)) * horizon();
}

at::Tensor Survival::hazard(const at::Tensor& t) const {
  if (options_.kind == SurvivalKind::linear || options_.kind == SurvivalKind::log_linear)
    return horizon() / t.to(at::kDouble);  // epsilon cancels
  return sigma_rate(t) * alpha(t) / lost(t);
}

double Survival::alpha(double t) const {
  return alpha(at::scalar_tensor(t, at::kDouble)).item<double>();
}

double Survival::sigma(double t) const {
  return sigma(at::scalar_tensor(t, at::kDouble)).item<double>();
}

double Survival::sigma_rate(double t) const {
  return sigma_rate(at::scalar_tensor(t, at::kDouble)).item<double>();
}

}  // namespace tessera
