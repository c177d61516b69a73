#include <tessera/process/process.h>

#include "base/require.h"
#include "process/listing.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>

#include <cmath>

namespace tessera {
namespace {

bool has_bound(const ProcessOptions& options) {
  return options.min_time > 0 || options.min_time_from_codes != MinTimeFromCodes::none;
}

}  // namespace

Process::Process(const ProcessOptions& options, const std::optional<TimeWarp>& warp)
    : options_(options),
      trajectory_(options.trajectory),
      clock_(options.r, trajectory_.horizon()),
      warp_(warp) {
  require_option(options.noise_factor > 0 && std::isfinite(options.noise_factor),
                 "noise_factor must be a positive number, got {}", options.noise_factor);
  require_option(!options.exact_index || trajectory_.variance_preserving(),
                 "exact_index needs a VP trajectory, not '{}'", name_of(trajectory_.kind()));
  require_option(options.min_time >= 0 && options.min_time < 1,
                 "min_time must be a share of the horizon in [0, 1), got {}", options.min_time);
  require_option(!has_bound(options) || !options.exact_index,
                 "exact_index knows whole steps only: it does not go with min_time");
  require_option(!warp_ || (options.r == 0 && !options.exact_index),
                 "a schedule for every position needs plain diffusion: r = 0 and no exact_index");
  require(!warp_ || warp_->horizon() == options.trajectory.horizon,
          "the schedule of positions has another horizon than the process");
}

at::Tensor Process::draw_time(const StreamId& id, const at::Tensor& samples) const {
  if (has_bound(options_)) {
    // Not rounded up to 1 in float32.
    constexpr double kBelowOne = 1 - 0x1p-24;
    return random_uniform(id, samples, {1}).squeeze(1).clamp_max(kBelowOne).to(at::kFloat);
  }
  return random_integers(id, samples, 1, options_.trajectory.horizon).to(at::kFloat);
}

at::Tensor Process::min_time(const Codebook& codebook) const {
  const auto numbers = at::TensorOptions().dtype(at::kDouble).device(codebook.device());
  const at::Tensor given = at::full({}, options_.min_time, numbers);
  if (options_.min_time_from_codes == MinTimeFromCodes::none) return given;
  at::Tensor spacing = codebook.spacing().to(at::kDouble);
  if (options_.min_time_from_codes == MinTimeFromCodes::spacing_plus_one) spacing = spacing + 1;
  // rho = u / v = 1 / s: of a VP trajectory, v^2 = s^2 / (1 + s^2).
  const at::Tensor time = trajectory_.time_of_ratio(at::rsqrt(spacing));
  return at::maximum(given, time / trajectory_.horizon());
}

at::Tensor Process::training_time(const Codebook& codebook, const at::Tensor& drawn) const {
  if (!has_bound(options_)) return drawn;
  const at::Tensor low = min_time(codebook), share = drawn.to(at::kDouble);
  return ((low + (1.0 - low) * share) * trajectory_.horizon()).to(drawn.scalar_type());
}

at::Tensor Process::draw_noise(const StreamId& id, const at::Tensor& samples,
                               at::IntArrayRef shape) const {
  return random_normal(id, samples, shape, options_.noise_factor);
}

Noised Process::noise(const Codebook& codebook, const at::Tensor& x0, const at::Tensor& labels,
                      const at::Tensor& eps, const at::Tensor& t) const {
  require_floating(x0, "x0");
  require(x0.dim() >= 2, "x0 must have shape [B, ..., d], got {}", shape_text(x0.sizes()));
  require_shape(eps, x0.sizes(), "eps");
  require_same_device(eps, x0.device(), "eps");
  require_same_dtype(eps, x0.scalar_type(), "eps");
  require_shape(labels, x0.sizes().slice(0, x0.dim() - 1), "labels");
  require_shape(t, {x0.size(0)}, "t");
  require_same_device(t, x0.device(), "t");
  require(t.is_floating_point(), "t must be a floating-point tensor");

  check_interval(t, 0, trajectory_.horizon(), "t");

  at::Tensor time = t.to(x0.scalar_type());
  if (warp_) {
    require(labels.dim() == 2,
            "a schedule for every position is for sequences: labels must be [B, L], got {}",
            shape_text(labels.sizes()));
    time = (*warp_)(t, labels.size(1)).to(x0.scalar_type());
  }
  Noised noised;
  noised.eps = eps;
  if (clock_.r == 0) {
    require_labels(labels, "labels");
    require_same_device(labels, x0.device(), "labels");
    require(x0.size(-1) == codebook.dim(), "x0 must have shape [B, ..., {}], got {}",
            codebook.dim(), shape_text(x0.sizes()));
    check_range(labels, codebook.symbols(), "labels");
    noised.t0 = at::zeros(labels.sizes(), x0.options());
    check_finite(x0, "x0");
    check_finite(eps, "eps");
  } else {
    const auto stop = stopping_time(trajectory_, codebook, x0, eps, labels, options_.no_exit);
    noised.t0 = stop.t0;
    noised.outside = stop.outside;
    noised.no_exit = stop.no_exit;
  }
  if (options_.exact_index) {
    noised.t0 = listing::index(trajectory_, noised.t0);
    noised.tau = listing::tau(time, noised.t0, clock_.r, trajectory_.horizon());
  } else {
    noised.tau = clock_.tau(time, noised.t0);
  }
  noised.speed = clock_.speed(noised.t0);
  const auto [u, v] = trajectory_.at(noised.tau);
  noised.x = u.unsqueeze(-1) * x0 + v.unsqueeze(-1) * eps;
  return noised;
}

}  // namespace tessera
