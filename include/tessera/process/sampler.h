#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/process/estimate.h>
#include <tessera/process/process.h>
#include <tessera/process/symbol_sampling.h>

#include <functional>
#include <optional>
#include <vector>

namespace tessera {

// The network, as the process sees it: the estimate of x0. Any callable will do.
//   x         [B, ..., d]  noisy points
//   t         [B]          time of every sample, in [0, T]; networks are told network_time(t)
//   previous  [B, ..., d]  the estimate of the step before (self-conditioning), zeros at first
using Denoiser =
    std::function<at::Tensor(const at::Tensor& x, const at::Tensor& t, const at::Tensor& previous)>;

// The time a network is told: (t - 1) * 1000 / T, the same range whatever the horizon.
TESSERA_API at::Tensor network_time(const at::Tensor& t, double horizon);

enum class StepGrid {
  uniform,   // t_k = round(T * (S - k) / S); with an end other than 0, real numbers down to it
  respaced,  // t_k = 1 + round(k * (T - 1) / (S - 1)), downwards
};
enum class SamplerClock {
  absolute,  // tau = T(t, G(x0_hat, eps_hat)), computed at every step
  velocity,  // tau falls by (t_k - t_k+1) * (d tau / d t)
};
enum class SamplerNoise {
  none,        // deterministic (Algorithm 2)
  gaussian,    // eps_hat is partly redrawn before the boundary is computed (r = 0: DDPM)
  as_printed,  // Algorithm 3 to the letter: noise on the state, always altered, one more call
};
enum class BoundaryOf {
  prediction,  // G of x0_hat itself (text)
  rounded,     // G of the code x0_hat decodes to (images)
};

// How much noise SamplerNoise::gaussian adds.
enum class SamplerVariance {
  posterior,  // that of x at the next time, given x now and x0
  large,      // that of x now, given x at the next time: DDPM's "fixed large"
};
// At which time the noise end of a path is computed.
enum class NoiseTime {
  state,  // where the state is
  told,   // at the time told to the network (CEDI)
};

template <>
struct EnumNames<StepGrid> {
  static constexpr std::string_view what = "step grid";
  static constexpr std::array<std::pair<StepGrid, std::string_view>, 2> values{
      {{StepGrid::uniform, "uniform"}, {StepGrid::respaced, "respaced"}}};
};
template <>
struct EnumNames<SamplerClock> {
  static constexpr std::string_view what = "sampler clock";
  static constexpr std::array<std::pair<SamplerClock, std::string_view>, 2> values{
      {{SamplerClock::absolute, "absolute"}, {SamplerClock::velocity, "velocity"}}};
};
template <>
struct EnumNames<SamplerNoise> {
  static constexpr std::string_view what = "sampler noise";
  static constexpr std::array<std::pair<SamplerNoise, std::string_view>, 3> values{
      {{SamplerNoise::none, "none"},
       {SamplerNoise::gaussian, "gaussian"},
       {SamplerNoise::as_printed, "as-printed"}}};
};
template <>
struct EnumNames<SamplerVariance> {
  static constexpr std::string_view what = "variance of sampling";
  static constexpr std::array<std::pair<SamplerVariance, std::string_view>, 2> values{
      {{SamplerVariance::posterior, "posterior"}, {SamplerVariance::large, "large"}}};
};
template <>
struct EnumNames<NoiseTime> {
  static constexpr std::string_view what = "time of the noise";
  static constexpr std::array<std::pair<NoiseTime, std::string_view>, 2> values{
      {{NoiseTime::state, "state"}, {NoiseTime::told, "told"}}};
};
template <>
struct EnumNames<BoundaryOf> {
  static constexpr std::string_view what = "boundary";
  static constexpr std::array<std::pair<BoundaryOf, std::string_view>, 2> values{
      {{BoundaryOf::prediction, "prediction"}, {BoundaryOf::rounded, "rounded"}}};
};

struct SamplerOptions {
  int64_t steps = 20;                               // S, at most T
  StepGrid grid = StepGrid::uniform;                // how the steps are spread over time
  int64_t skip_last = 0;                            // steps left out at the end of the grid
  std::optional<double> r = {};                     // confidence factor; unset: that of training
  bool rescale_reverse = true;                      // false: "forward only", the same as r = 0
  bool alter = true;                                // recompute eps_hat at every step
  SamplerClock clock = SamplerClock::absolute;      // how tau follows t
  SamplerNoise noise = SamplerNoise::none;          // what is added on the way
  double eta = 1.0;                                 // amount of that noise
  BoundaryOf boundary_of = BoundaryOf::prediction;  // the point whose stopping time is used
  double clip = 0.0;                                // > 0: clamp x0_hat to [-clip, clip]
  bool final_call = false;                          // one more call, at t = 1, from the last state
  double time_difference = 0.0;                     // steps the state runs ahead of the time told
  double noise_factor = 1.0;                        // F of decoding: noise is F * N(0, I)
  Estimate estimate = Estimate::raw;                // what the path is built from
  bool self_conditioning = true;                    // show the network its last estimate
  Estimate shown = Estimate::raw;                   // in which form: that of training
  double logit_scale = 1.0;     // of scores under Estimate::mean: as in training
  uint64_t seed = 0;            // of all noise drawn by the sampler, unless rows have their own
  SymbolSampling symbols = {};  // for families of symbols, which also use steps and seed
  SamplerVariance variance = SamplerVariance::posterior;  // of the noise that is added on the way
  double state_end = 0;                 // where the uniform grid ends, as a share of T
  std::optional<double> told_end = {};  // where the times told to the network end: they have a
                                        // grid of their own, from T down to this share of T; none:
                                        // the true times are told
  NoiseTime noise_of = NoiseTime::state;  // which time the noise end is altered at

  bool operator==(const SamplerOptions&) const = default;

  // The Difformer baseline as published: r = 0, ancestral noise, 20 respaced steps of which the
  // last 5 are left out.
  static SamplerOptions difformer();
};

// What a step callback sees: the state before step `index`, and the estimate made from it.
struct SampleStep {
  int64_t index;       // 0 .. calls-1
  double t;            // the time told to the network
  at::Tensor x;        // [B, ..., d]  the noisy points given to the network
  at::Tensor tau;      // [B, ...]     their rescaled times
  at::Tensor eps_hat;  // [B, ..., d]  the noise end of their paths, before the estimate
  at::Tensor x0_hat;   // [B, ..., d]  the network's raw estimate, clipped if asked for
  at::Tensor labels;   // [B, ...]     what it decodes to
  // [B, ...]  noisy symbols, for families that have them in place of points (eps_hat is undefined
  // then); else undefined
  at::Tensor noisy = {};
};
// Returns false to stop: the estimate of this step is then the result.
using StepCallback = std::function<bool(const SampleStep&)>;

struct Sample {
  at::Tensor labels;  // [B, ...]     decode(x0)
  at::Tensor x0;      // [B, ..., d]  the last estimate
  int64_t calls;      // network calls made: the number of function evaluations
  // [B, ...]  of every label when it was chosen, for families that choose labels one after the
  // other; else undefined, as x0 gives them
  at::Tensor log_probabilities = {};
};

// The reverse process (Algorithms 2 and 3). The codebook must outlive it. run() may be called from
// several threads if the denoiser may. Runs without gradients.
class TESSERA_API Sampler {
 public:
  Sampler(const Process& process, const Codebook& codebook, Denoiser denoiser,
          const SamplerOptions& options = {});

  Sampler(const Process&, Codebook&&, Denoiser, const SamplerOptions& = {}) = delete;

  const SamplerOptions& options() const { return options_; }

  // The times of the network calls, descending, and the final time that ends the last step.
  const std::vector<double>& times() const { return times_; }

  int64_t calls() const;  // of the network, in a whole run

  // The time that is told to the network in that call.
  double told(int64_t call) const;

  // Draws the start noise of every sample from (seed, sample) and runs.
  //   samples [B] int64 on the device to run on, shape [..., d] of one sample
  //   seeds   [B] int64 on that device: the seed of every sample (its 64 bits), so that samples of
  //           different seeds run together; undefined: all have the seed of the options
  Sample run(const at::Tensor& samples, at::IntArrayRef shape, const StepCallback& callback = {},
             const at::Tensor& seeds = {}) const;

  // Runs from the given noise [B, ..., d] (noise factor included). Seeds as above, for the noise
  // that is added on the way.
  Sample run_from(const at::Tensor& noise, const at::Tensor& samples,
                  const StepCallback& callback = {}, const at::Tensor& seeds = {}) const;

 private:
  Process process_;  // with the sampler's r
  const Codebook* codebook_;
  Denoiser denoiser_;
  SamplerOptions options_;
  std::vector<double> times_;
};

}  // namespace tessera
