#include <tessera/process/trajectory.h>

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <vector>

namespace tessera {
namespace {

constexpr double kLargestBeta = 0.999;

// alpha-bar of the continuous schedules, s in [0, 1].
double sqrt_schedule(double s) {
  return 1.0 - std::sqrt(s + 1e-4);
}
double cosine_schedule(double s) {
  const double c = std::cos((s + 0.008) / 1.008 * std::numbers::pi / 2);
  return c * c;
}

// beta of step i = 0 .. T-1, which leads from time i to time i+1.
double beta(TrajectoryKind kind, int64_t i, int64_t horizon) {
  const auto steps = static_cast<double>(horizon);
  const auto from = [&](double (*schedule)(double)) {
    return 1.0 - schedule((i + 1) / steps) / schedule(i / steps);
  };
  switch (kind) {
    case TrajectoryKind::vp_sqrt:
      return std::min(from(sqrt_schedule), kLargestBeta);
    case TrajectoryKind::vp_cosine:
      return std::min(from(cosine_schedule), kLargestBeta);
    default:
      return std::min((1e-4 + i * (0.02 - 1e-4) / std::max(steps - 1, 1.0)) * 1000 / steps,
                      kLargestBeta);
  }
}

// theta_k with u = cos(theta_k), v = sin(theta_k), k = 0 .. T; theta_0 = 0.
std::vector<double> angle_table(TrajectoryKind kind, int64_t horizon) {
  std::vector<double> theta{0.0};
  theta.reserve(horizon + 1);
  double alpha_bar = 1.0;
  for (int64_t i = 0; i < horizon; ++i) {
    alpha_bar *= 1.0 - beta(kind, i, horizon);
    theta.push_back(std::atan2(std::sqrt(1.0 - alpha_bar), std::sqrt(alpha_bar)));
  }
  return theta;
}

// The whole steps below `time` as rows of a table of T + 1. The second clamp is for NaN, which
// becomes some row or other: a lookup beyond the table would end the CUDA context, and the value is
// NaN anyhow.
at::Tensor rows_below(const at::Tensor& time, int64_t horizon) {
  return time.floor().clamp(0, horizon - 1).to(at::kLong).clamp_(0, horizon - 1);
}

// u of vp_sine. s may be rounded to just above 1: the clamp avoids the root of a negative number.
at::Tensor cosine_of(const at::Tensor& s) {
  return at::sqrt((1.0 - s * s).clamp_min(0));
}

at::Tensor in_double(const at::Tensor& x, std::string_view argument) {
  require_defined(x, argument);
  require(x.is_floating_point(), "{} must be a floating-point tensor", argument);
  return x.detach().to(at::kDouble);
}

}  // namespace

// Copied once to every device that asks for it.
struct Trajectory::AngleTable {
  explicit AngleTable(const std::vector<double>& theta)
      : last(theta.back()), host(at::tensor(theta, at::kDouble)) {}

  at::Tensor on(at::Device device) {
    if (device.is_cpu()) return host;
    const std::lock_guard lock(mutex);
    at::Tensor& copy = copies[device.index()];
    if (!copy.defined()) copy = host.to(device);
    return copy;
  }

  double at(int64_t k) const { return host.const_data_ptr<double>()[k]; }

  double last;
  at::Tensor host;  // [T+1]
  std::mutex mutex;
  std::map<int, at::Tensor> copies;
};

Trajectory::Trajectory(const TrajectoryOptions& options) : options_(options) {
  require_option(options.horizon >= 1, "trajectory horizon must be at least 1, got {}",
                 options.horizon);
  require_option(options.sigma_min > 0 && options.sigma_min < options.sigma_max &&
                     std::isfinite(options.sigma_max),
                 "trajectory needs 0 < sigma_min < sigma_max, got {} and {}", options.sigma_min,
                 options.sigma_max);
  if (variance_preserving() && options.kind != TrajectoryKind::vp_sine)
    angles_ = std::make_shared<AngleTable>(angle_table(options.kind, options.horizon));
  final_ratio_ = ratio(horizon());
}

Trajectory::Trajectory(std::string_view name, int64_t horizon)
    : Trajectory(TrajectoryOptions{.kind = parse_name<TrajectoryKind>(name), .horizon = horizon}) {}

bool Trajectory::variance_preserving() const {
  return options_.kind != TrajectoryKind::ot && options_.kind != TrajectoryKind::ve;
}

Coefficients Trajectory::at(const at::Tensor& tau) const {
  const at::Tensor time = in_double(tau, "tau");
  const auto as = [&](const at::Tensor& x) { return x.to(tau.scalar_type()); };
  switch (options_.kind) {
    case TrajectoryKind::ot: {
      const at::Tensor s = time / horizon();
      return {as(1.0 - s), as(s)};
    }
    case TrajectoryKind::ve: {
      const double growth = std::log(options_.sigma_max / options_.sigma_min);
      return {at::ones_like(tau), as(options_.sigma_min * at::exp(time * (growth / horizon())))};
    }
    case TrajectoryKind::vp_sine: {
      const at::Tensor s = time / horizon();
      return {as(cosine_of(s)), as(s)};
    }
    default: {
      const at::Tensor theta = angle(time);
      return {as(at::cos(theta)), as(at::sin(theta))};
    }
  }
}

Coefficients Trajectory::derivatives(const at::Tensor& tau) const {
  const at::Tensor time = in_double(tau, "tau");
  const auto as = [&](const at::Tensor& x) { return x.to(tau.scalar_type()); };
  switch (options_.kind) {
    case TrajectoryKind::ot:
      return {at::full_like(tau, -1.0), at::ones_like(tau)};
    case TrajectoryKind::ve: {
      const double growth = std::log(options_.sigma_max / options_.sigma_min);
      return {at::zeros_like(tau), as(at(time).v * growth)};
    }
    case TrajectoryKind::vp_sine: {
      const at::Tensor s = time / horizon();
      return {as(-s / cosine_of(s)), at::ones_like(tau)};
    }
    default: {
      const at::Tensor table = angles_->on(time.device());
      const at::Tensor k = rows_below(time, options_.horizon);
      const at::Tensor slope = (table.take(k + 1) - table.take(k)) * horizon();
      const at::Tensor theta = angle(time);
      return {as(-at::sin(theta) * slope), as(at::cos(theta) * slope)};
    }
  }
}

at::Tensor Trajectory::ratio(const at::Tensor& tau) const {
  const auto [u, v] = at(in_double(tau, "tau"));
  return (u / v).to(tau.scalar_type());
}

at::Tensor Trajectory::time_of_ratio(const at::Tensor& rho) const {
  const at::Tensor ratio = in_double(rho, "rho");
  at::Tensor time;
  switch (options_.kind) {
    case TrajectoryKind::ot:
      time = horizon() / (1.0 + ratio.clamp_min(0));
      break;
    case TrajectoryKind::ve: {
      const double growth = std::log(options_.sigma_max / options_.sigma_min);
      // v = 1 / rho. A ratio of 0 or less is never reached: its logarithm is -inf (of -0.0 too).
      const at::Tensor log_v = -at::log(options_.sigma_min * ratio.clamp_min(0));
      time = (log_v * (horizon() / growth)).clamp(0, horizon());
      break;
    }
    case TrajectoryKind::vp_sine:
      time = horizon() / at::sqrt(1.0 + ratio.clamp_min(0).square());
      break;
    default:
      time = time_of_angle(at::atan2(at::ones_like(ratio), ratio));
      break;
  }
  return time.to(rho.scalar_type());
}

double Trajectory::u(double tau) const {
  switch (options_.kind) {
    case TrajectoryKind::ot:
      return 1.0 - tau / horizon();
    case TrajectoryKind::ve:
      return 1.0;
    case TrajectoryKind::vp_sine:
      return std::sqrt(1.0 - tau / horizon() * (tau / horizon()));
    default:
      return std::cos(angle(at::scalar_tensor(tau, at::kDouble)).item<double>());
  }
}

double Trajectory::v(double tau) const {
  switch (options_.kind) {
    case TrajectoryKind::ot:
      return tau / horizon();
    case TrajectoryKind::ve:
      return options_.sigma_min *
             std::pow(options_.sigma_max / options_.sigma_min, tau / horizon());
    case TrajectoryKind::vp_sine:
      return tau / horizon();
    default:
      return std::sin(angle(at::scalar_tensor(tau, at::kDouble)).item<double>());
  }
}

double Trajectory::ratio(double tau) const {
  return u(tau) / v(tau);
}

at::Tensor Trajectory::angle(const at::Tensor& tau) const {
  require(variance_preserving(), "trajectory '{}' has no angle", name_of(options_.kind));
  const at::Tensor time = in_double(tau, "tau");
  if (!angles_) return at::asin(time / horizon()).to(tau.scalar_type());
  const at::Tensor table = angles_->on(time.device());
  const at::Tensor row = rows_below(time, options_.horizon);
  const at::Tensor low = table.take(row);
  return (low + (time - row) * (table.take(row + 1) - low)).to(tau.scalar_type());
}

at::Tensor Trajectory::time_of_angle(const at::Tensor& theta) const {
  require(variance_preserving(), "trajectory '{}' has no angle", name_of(options_.kind));
  const at::Tensor angle = in_double(theta, "theta").clamp(0, final_angle()).contiguous();
  if (!angles_) return (horizon() * at::sin(angle)).to(theta.scalar_type());
  const at::Tensor table = angles_->on(angle.device());
  const at::Tensor row = (at::searchsorted(table, angle, /*out_int32=*/false, /*right=*/true) - 1)
                             .clamp(0, options_.horizon - 1);
  const at::Tensor low = table.take(row), high = table.take(row + 1);
  return (row + (angle - low) / (high - low)).clamp_max(horizon()).to(theta.scalar_type());
}

double Trajectory::final_angle() const {
  require(variance_preserving(), "trajectory '{}' has no angle", name_of(options_.kind));
  return angles_ ? angles_->last : std::numbers::pi / 2;
}

}  // namespace tessera
