#include <tessera/process/sampler.h>

#include "base/require.h"
#include "process/listing.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

// Time k of a grid of real numbers from the horizon down to a share of it.
double even_time(int64_t k, int64_t steps, double horizon, double end) {
  return horizon * (1.0 - (1.0 - end) * static_cast<double>(k) / static_cast<double>(steps));
}

// Times of the network calls, descending, then the final time.
std::vector<double> step_times(StepGrid grid, int64_t steps, double horizon, double end) {
  std::vector<double> times;
  const auto count = static_cast<double>(steps);
  for (int64_t k = 0; k < steps; ++k) {
    if (end > 0)
      times.push_back(even_time(k, steps, horizon, end));
    else if (grid == StepGrid::uniform)
      times.push_back(std::round(horizon * (count - k) / count));
    else
      times.push_back(steps == 1 ? horizon
                                 : 1 + std::round((steps - 1 - k) * (horizon - 1) / (count - 1)));
  }
  times.push_back(end * horizon);
  return times;
}

// The share kappa of the noise that is redrawn between two times, on the unrescaled clock;
// kappa(eta=1) is that of DDPM's ancestral step.
double redrawn_share(const Trajectory& trajectory, double t, double next, double eta) {
  const double after = trajectory.ratio(next);
  const double fraction = std::isinf(after) ? 0.0 : trajectory.ratio(t) / after;
  return eta * std::sqrt(std::max(0.0, 1.0 - fraction * fraction));
}

// The same for every element, if each has a schedule of its own.
at::Tensor redrawn_share(const Trajectory& trajectory, const at::Tensor& t, const at::Tensor& next,
                         double eta) {
  const at::Tensor fraction = trajectory.ratio(t) / trajectory.ratio(next);
  return eta * at::sqrt((1.0 - fraction.square()).clamp_min(0));
}

// What a run carries from step to step.
struct State {
  at::Tensor x;         // [B, ..., d]  noisy points
  at::Tensor eps;       // [B, ..., d]  noise end of their paths
  at::Tensor tau;       // [B, ...]     their rescaled times
  at::Tensor previous;  // [B, ..., d]  the last estimate
  double time = 0;      // reached so far, before rescaling
};

// One run of a sampler: the lines of Algorithms 2 and 3.
class Run {
 public:
  Run(const Process& process, const Codebook& codebook, const SamplerOptions& options,
      const at::Tensor& samples, const at::Tensor& seeds)
      : process_(process),
        codebook_(codebook),
        options_(options),
        samples_(samples),
        seeds_(seeds) {}

  State start(const at::Tensor& noise, double time) const {
    const double horizon = process_.trajectory().horizon();
    State state;
    state.time = time;
    state.eps = noise;
    state.x = process_.trajectory().v(horizon) * noise;
    state.tau = at::full(noise.sizes().slice(0, noise.dim() - 1), horizon, noise.options());
    state.previous = at::zeros_like(noise);
    return state;
  }

  // Moves the state to the time `next`, given the estimate of x0 that was made at time t.
  //   told  the time that the network was told for it
  void advance(State& state, const at::Tensor& x0_hat, double t, double told, double next,
               int64_t step) const {
    if (options_.alter || options_.noise == SamplerNoise::as_printed)
      state.eps = noise_end(state, x0_hat, told);
    if (process_.warp() || options_.variance == SamplerVariance::large)
      return advance_elements(state, x0_hat, next, step);
    const double kappa = options_.noise == SamplerNoise::none
                             ? 0.0
                             : redrawn_share(process_.trajectory(), t, next, options_.eta);
    if (options_.noise == SamplerNoise::gaussian)
      state.eps = std::sqrt(1.0 - kappa * kappa) * state.eps + kappa * fresh_noise(state.x, step);

    state.tau = next_tau(state, x0_hat, next);
    state.time = next;
    const auto [u, v] = coefficients(state.tau);
    state.x = u * x0_hat + v * state.eps;
    if (options_.noise == SamplerNoise::as_printed)
      state.x = state.x + kappa * v * fresh_noise(state.x, step);
  }

 private:
  // The rest of a step of plain diffusion, with a time and a variance for every element.
  void advance_elements(State& state, const at::Tensor& x0_hat, double next, int64_t step) const {
    const at::Tensor before = state.tau.to(at::kDouble);
    state.tau = next_tau(state, x0_hat, next);
    state.time = next;
    const at::Tensor after = state.tau.to(at::kDouble);
    const auto now = coefficients(before), then = coefficients(after);
    const auto times = [](const at::Tensor& share, const at::Tensor& points) {
      return share.to(points.scalar_type()) * points;
    };
    at::Tensor kept = then.v, added;  // of the noise end, of fresh noise
    if (options_.noise == SamplerNoise::gaussian) {
      const at::Tensor kappa =
          redrawn_share(process_.trajectory(), before, after, options_.eta).unsqueeze(-1);
      kept = then.v * at::sqrt(1.0 - kappa.square());
      added = then.v * kappa;
      if (options_.variance == SamplerVariance::large) {
        // The present state is now.u / then.u times the next one, plus noise of this variance.
        const at::Tensor variance = now.v.square() - (now.u / then.u * then.v).square();
        added = options_.eta * at::sqrt(variance.clamp_min(0));
      }
    }
    state.x = times(then.u, x0_hat) + times(kept, state.eps);
    if (added.defined()) state.x = state.x + times(added, fresh_noise(state.x, step));
  }

  // Trajectory alteration: the noise end of the path from x0_hat through the present point.
  at::Tensor noise_end(const State& state, const at::Tensor& x0_hat, double told) const {
    const auto [u, v] = coefficients(
        options_.noise_of == NoiseTime::told ? at::full_like(state.tau, told) : state.tau);
    return (state.x - u * x0_hat) / v;
  }

  at::Tensor fresh_noise(const at::Tensor& like, int64_t step) const {
    const StreamId id{options_.seed, Purpose::sampling_step, static_cast<uint64_t>(step)};
    return random_normal(id, samples_, like.sizes().slice(1), options_.noise_factor, seeds_)
        .to(like.scalar_type());
  }

  at::Tensor next_tau(const State& state, const at::Tensor& x0_hat, double next) const {
    const Clock& clock = process_.clock();
    if (process_.warp()) {
      const at::Tensor time = at::full({state.tau.size(0)}, next, state.tau.options());
      return (*process_.warp())(time, state.tau.size(1));
    }
    if (clock.r == 0 && options_.clock == SamplerClock::absolute && !process_.options().exact_index)
      return at::full_like(state.tau, next);
    at::Tensor t0 = clock.r == 0 ? at::zeros_like(state.tau) : boundary(state, x0_hat);
    if (process_.options().exact_index) t0 = listing::index(process_.trajectory(), t0);
    if (options_.clock == SamplerClock::velocity)
      return (state.tau - (state.time - next) * clock.speed(t0)).clamp_min(0);
    const at::Tensor time = at::full({state.tau.size(0)}, next, state.tau.options());
    if (process_.options().exact_index) return listing::tau(time, t0, clock.r, clock.horizon);
    return clock.tau(time, t0);
  }

  // G(x0_hat, eps_hat), with the cell x0_hat decodes to.
  at::Tensor boundary(const State& state, const at::Tensor& x0_hat) const {
    const Trajectory& trajectory = process_.trajectory();
    const NoExit policy = process_.options().no_exit;
    if (options_.boundary_of == BoundaryOf::rounded) {
      const at::Tensor labels = codebook_.decode(x0_hat);
      return stopping_time(trajectory, codebook_,
                           codebook_.encode(labels).detach().to(x0_hat.scalar_type()), state.eps,
                           labels, policy)
          .t0;
    }
    const auto decoded = codebook_.decode_and_exit(trajectory, x0_hat, state.eps);
    return stopping_time(trajectory, decoded.exit, policy).t0;
  }

  // u and v at every element, shaped to multiply points.
  Coefficients coefficients(const at::Tensor& tau) const {
    const auto [u, v] = process_.trajectory().at(
        process_.options().exact_index ? listing::row_time(tau, process_.trajectory().horizon())
                                       : tau);
    return {u.unsqueeze(-1), v.unsqueeze(-1)};
  }

  const Process& process_;
  const Codebook& codebook_;
  const SamplerOptions& options_;
  const at::Tensor& samples_;
  const at::Tensor& seeds_;
};

Process sampling_process(const Process& process, const SamplerOptions& options) {
  ProcessOptions changed = process.options();
  changed.r = options.rescale_reverse ? options.r.value_or(changed.r) : 0.0;
  return Process(changed, process.warp());
}

}  // namespace

at::Tensor network_time(const at::Tensor& t, double horizon) {
  return (t - 1) * (1000.0 / horizon);
}

SamplerOptions SamplerOptions::difformer() {
  SamplerOptions options;
  options.steps = 20;
  options.grid = StepGrid::respaced;
  options.skip_last = 5;
  options.r = 0.0;
  options.noise = SamplerNoise::gaussian;
  options.eta = 1.0;
  return options;
}

Sampler::Sampler(const Process& process, const Codebook& codebook, Denoiser denoiser,
                 const SamplerOptions& options)
    : process_(sampling_process(process, options)),
      codebook_(&codebook),
      denoiser_(std::move(denoiser)),
      options_(options) {
  const double horizon = process_.trajectory().horizon();
  require(static_cast<bool>(denoiser_), "the sampler's denoiser is empty");
  require_option(options.steps >= 1 && static_cast<double>(options.steps) <= horizon,
                 "sampler steps must be in [1, {}] (the horizon), got {}", horizon, options.steps);
  require_option(options.skip_last >= 0 && options.skip_last < options.steps,
                 "sampler skip_last must be in [0, steps), got {} of {}", options.skip_last,
                 options.steps);
  require_option(options.eta >= 0 && options.eta <= 1, "sampler eta must be in [0, 1], got {}",
                 options.eta);
  require_option(options.clip >= 0 && std::isfinite(options.clip),
                 "sampler clip must be a number >= 0 (0: none), got {}", options.clip);
  require_option(options.time_difference >= 0 && std::isfinite(options.time_difference),
                 "sampler time_difference must be a number >= 0, got {}", options.time_difference);
  require_option(options.noise_factor > 0 && std::isfinite(options.noise_factor),
                 "sampler noise_factor must be a positive number, got {}", options.noise_factor);
  require_option(options.logit_scale > 0 && std::isfinite(options.logit_scale),
                 "sampler logit_scale must be a positive number, got {}", options.logit_scale);
  require_option(options.state_end >= 0 && options.state_end < 1,
                 "sampler state_end must be a share of the horizon in [0, 1), got {}",
                 options.state_end);
  require_option(options.state_end == 0 || options.grid == StepGrid::uniform,
                 "sampler state_end needs the uniform grid");
  require_option(!options.told_end || (*options.told_end > 0 && *options.told_end <= 1),
                 "sampler told_end must be a share of the horizon in (0, 1], got {}",
                 options.told_end.value_or(0));
  const bool plain = process_.clock().r == 0 && !process_.options().exact_index;
  require_option(options.noise_of == NoiseTime::state || (plain && options.alter),
                 "sampler noise_of = \"told\" needs plain diffusion (r = 0) and alter");
  require_option(options.variance == SamplerVariance::posterior ||
                     (plain && options.alter && options.clock == SamplerClock::absolute &&
                      options.noise == SamplerNoise::gaussian),
                 "sampler variance = \"large\" needs plain diffusion (r = 0), noise = "
                 "\"gaussian\", clock = \"absolute\" and alter");
  require_option(!process_.warp() || (options.clock == SamplerClock::absolute && options.alter &&
                                      options.noise != SamplerNoise::as_printed),
                 "a schedule for every position needs clock = \"absolute\", alter and noise "
                 "\"none\" or \"gaussian\"");
  require_estimate(codebook, options.estimate);
  if (options.self_conditioning) require_estimate(codebook, options.shown);
  times_ = step_times(options.grid, options.steps, horizon, options.state_end);
  times_.erase(times_.end() - 1 - options.skip_last, times_.end() - 1);
}

// Algorithm 3 always ends with one more call.
int64_t Sampler::calls() const {
  const bool one_more = options_.final_call || options_.noise == SamplerNoise::as_printed;
  return static_cast<int64_t>(times_.size()) - (one_more ? 0 : 1);
}

double Sampler::told(int64_t call) const {
  if (options_.told_end)
    return even_time(call, options_.steps, process_.trajectory().horizon(), *options_.told_end);
  // The final call is at t = 1, from the state at time 0.
  return std::max(times_[static_cast<size_t>(call)], 1.0);
}

Sample Sampler::run(const at::Tensor& samples, at::IntArrayRef shape, const StepCallback& callback,
                    const at::Tensor& seeds) const {
  const StreamId id{options_.seed, Purpose::sampling, 0};
  return run_from(random_normal(id, samples, shape, options_.noise_factor, seeds), samples,
                  callback, seeds);
}

Sample Sampler::run_from(const at::Tensor& noise, const at::Tensor& samples,
                         const StepCallback& callback, const at::Tensor& seeds) const {
  require_floating(noise, "noise");
  require(noise.dim() >= 2 && noise.size(-1) == codebook_->dim(),
          "noise must have shape [B, ..., {}], got {}", codebook_->dim(),
          shape_text(noise.sizes()));
  require_labels(samples, "samples");
  require_shape(samples, {noise.size(0)}, "samples");
  require_same_device(samples, noise.device(), "samples");
  check_finite(noise, "noise");

  const c10::NoGradGuard no_grad;
  const Run run(process_, *codebook_, options_, samples, seeds);
  State state = run.start(noise, times_.front());
  const double ahead = options_.time_difference * process_.trajectory().horizon() /
                       static_cast<double>(options_.steps);
  const auto stand_in = [&](const at::Tensor& x0_hat, Estimate estimate) {
    return estimate_of(*codebook_, x0_hat, estimate, options_.logit_scale);
  };
  at::Tensor x0_hat;
  int64_t index = 0;
  while (true) {
    const double t = told(index);
    x0_hat = denoiser_(state.x, at::full({noise.size(0)}, t, noise.options()), state.previous);
    require_shape(x0_hat, noise.sizes(), "the denoiser's result");
    x0_hat = x0_hat.to(noise.scalar_type());
    if (options_.clip > 0) x0_hat = x0_hat.clamp(-options_.clip, options_.clip);
    bool go_on = true;
    if (callback)
      go_on =
          callback({index, t, state.x, state.tau, state.eps, x0_hat, codebook_->decode(x0_hat)});
    ++index;
    if (index == calls() || !go_on) break;
    if (options_.self_conditioning) state.previous = stand_in(x0_hat, options_.shown);
    const double next = times_[index];
    run.advance(state, stand_in(x0_hat, options_.estimate), times_[index - 1], t,
                ahead > 0 ? std::min(next, std::max(next - ahead, 1.0)) : next, index);
  }
  return {codebook_->decode(x0_hat), x0_hat, index};
}

}  // namespace tessera
