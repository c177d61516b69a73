#include <tessera/process/boundary_family.h>

#include "base/require.h"
#include "process/masked_mean.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <array>

namespace tessera {
namespace {

constexpr std::array<std::string_view, 5> kMeasures{"mse", "cross_entropy", "tau", "outside",
                                                    "reach"};

// What corrupt() passes on to loss() in `hidden`, in this order.
enum Hidden : size_t { kX0, kTau, kT0, kSpeed, kOutside, kNoExit, kEps };

std::vector<at::Tensor> hide(const at::Tensor& x0, const Noised& noised) {
  return {x0, noised.tau, noised.t0, noised.speed, noised.outside, noised.no_exit, noised.eps};
}

Noised noised_of(const Corrupted& corrupted) {
  const auto& hidden = corrupted.hidden;
  return {corrupted.input,     hidden.at(kTau),    hidden.at(kT0), hidden.at(kSpeed),
          hidden.at(kOutside), hidden.at(kNoExit), hidden.at(kEps)};
}

std::vector<int64_t> with_width(at::IntArrayRef elements, int64_t width) {
  std::vector<int64_t> shape = elements.vec();
  shape.push_back(width);
  return shape;
}

std::optional<AdaptiveSchedule> adaptive_schedule(const Codebook& codebook,
                                                  const BoundaryFamilyOptions& options) {
  if (options.adaptive.stride == 0) return std::nullopt;
  return AdaptiveSchedule(options.adaptive, Trajectory(options.process.trajectory),
                          codebook.device());
}

}  // namespace

BoundaryFamily::BoundaryFamily(const Codebook& codebook, const BoundaryFamilyOptions& options)
    : Family(codebook),
      options_(options),
      schedule_(adaptive_schedule(codebook, options)),
      process_(options.process, schedule_ ? std::optional(schedule_->warp()) : std::nullopt) {
  require_option(options.clip >= 0, "clip must not be negative, got {}", options.clip);
}

std::string BoundaryFamily::summary() const {
  return fmt::format("boundary-conditional diffusion (trajectory {}, r = {})",
                     name_of(process_.trajectory().kind()), options_.process.r);
}

std::span<const std::string_view> BoundaryFamily::measures() const {
  return kMeasures;
}

Draws BoundaryFamily::draw(const TrainingStreams& streams, const at::Tensor& samples,
                           at::IntArrayRef elements) const {
  return {process_.draw_time(streams.time, samples),
          process_.draw_noise(streams.noise, samples, with_width(elements, codebook().dim()))};
}

Corrupted BoundaryFamily::corrupt(const at::Tensor& labels, const Draws& draws) const {
  const at::Tensor t = process_.training_time(codebook(), draws.at(0)), &eps = draws.at(1);
  const at::Tensor x0 = codebook().encode(labels);
  const Noised noised = process_.noise(codebook(), x0, labels, eps, t);
  return {noised.x, t, hide(x0, noised)};
}

FamilyLoss BoundaryFamily::loss(const Corrupted& corrupted, const at::Tensor& output,
                                const at::Tensor& labels, const at::Tensor& mask) const {
  const Noised noised = noised_of(corrupted);
  const at::Tensor& x0 = corrupted.hidden.at(kX0);
  const Loss parts =
      objective(process_, codebook(), noised, output, x0, labels, mask, options_.objective);

  const c10::NoGradGuard no_grad;
  const auto mean = [&](const at::Tensor& values) { return masked_mean(values, mask); };
  const at::Tensor tau = mean(noised.tau / horizon());
  const at::Tensor outside =
      noised.outside.defined() ? mean(noised.outside.to(at::kFloat)) : at::zeros_like(tau);
  const auto mean_length = [&](const at::Tensor& points) {
    return mean(at::norm(points.detach(), 2, {-1}));
  };
  const at::Tensor reach = mean_length(output) / mean_length(x0).clamp_min(1e-12);
  FamilyLoss loss{parts.total, at::stack({parts.mse, parts.cross_entropy, tau, outside, reach})};
  if (schedule_) loss.seen = {corrupted.time, (output.detach() - x0).square().mean(-1), mask};
  return loss;
}

void BoundaryFamily::observe(const FamilyLoss& loss) {
  if (schedule_) schedule_->observe(loss.seen.at(0), loss.seen.at(1), loss.seen.at(2));
}

void BoundaryFamily::updated(int64_t updates) {
  if (schedule_) schedule_->updated(updates);
}

safetensors::Tensors BoundaryFamily::state() const {
  return schedule_ ? schedule_->state() : safetensors::Tensors{};
}

void BoundaryFamily::restore(const safetensors::File& file, const std::string& prefix) {
  if (schedule_) schedule_->restore(file, prefix);
}

at::Tensor BoundaryFamily::shown(const at::Tensor& output) const {
  const at::Tensor point =
      estimate_of(codebook(), output, options_.condition_on, options_.objective.logit_scale);
  return options_.clip > 0 ? point.clamp(-options_.clip, options_.clip) : point;
}

SamplerOptions BoundaryFamily::in_force(SamplerOptions options) const {
  require_option(options.estimate != Estimate::mean || options_.objective.cross_entropy_weight > 0,
                 "sampler.estimate = \"mean\" needs a model that was trained with the "
                 "cross-entropy of rounding: bits and pixels are not; take raw, nearest or "
                 "rescaled");
  options.shown = options_.condition_on;
  options.logit_scale = options_.objective.logit_scale;
  if (options.clip == 0) options.clip = options_.clip;
  return options;
}

Sample BoundaryFamily::reverse(const Denoiser& network, const at::Tensor& samples,
                               at::IntArrayRef elements, const SamplerOptions& options,
                               const StepCallback& callback, const at::Tensor& seeds,
                               const at::Tensor& /*present*/) const {
  return Sampler(process_, codebook(), network, in_force(options))
      .run(samples, with_width(elements, codebook().dim()), callback, seeds);
}

int64_t BoundaryFamily::calls(const SamplerOptions& options) const {
  const Denoiser unused = [](const at::Tensor& x, const at::Tensor&, const at::Tensor&) {
    return x;
  };
  return Sampler(process_, codebook(), unused, in_force(options)).calls();
}

}  // namespace tessera
