#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/process/process.h>

namespace tessera {

// The quantity whose squared error is taken.
enum class Target {
  x0,        // the clean point (eq. 24)
  velocity,  // the rescaled vector field (eq. 2): the same error, weighted per element
  noise,     // the noise end of the path, as in DDPM: likewise
};

template <>
struct EnumNames<Target> {
  static constexpr std::string_view what = "objective";
  static constexpr std::array<std::pair<Target, std::string_view>, 3> values{
      {{Target::x0, "x0"}, {Target::velocity, "velocity"}, {Target::noise, "noise"}}};
};

// How the squared error is taken over the dimensions of a point. Over elements it is always a mean.
enum class Dims { mean, sum };

template <>
struct EnumNames<Dims> {
  static constexpr std::string_view what = "reduction over dimensions";
  static constexpr std::array<std::pair<Dims, std::string_view>, 2> values{
      {{Dims::mean, "mean-dims"}, {Dims::sum, "sum-dims"}}};
};

// The point whose cross-entropy is taken (rounding to a symbol).
enum class Rounding {
  estimate,      // x0_hat
  clean,         // x0: codes learn to be told apart, the estimate learns from squared error alone
  clean_noised,  // x0 + v(1) * eps: the same, with the noise of the first step
};

template <>
struct EnumNames<Rounding> {
  static constexpr std::string_view what = "rounding";
  static constexpr std::array<std::pair<Rounding, std::string_view>, 3> values{
      {{Rounding::estimate, "estimate"},
       {Rounding::clean, "clean"},
       {Rounding::clean_noised, "clean-noised"}}};
};

struct ObjectiveOptions {
  Target target = Target::x0;
  Dims dims = Dims::mean;
  double mse_weight = 1.0;
  double cross_entropy_weight = 1.0;  // of rounding to a symbol; 0: not computed
  Rounding rounding = Rounding::estimate;
  double logit_scale = 1.0;      // points are multiplied by it before they are scored
  double label_smoothing = 0.0;  // over the symbols that can be decoded, in [0, 1)
  double velocity_cap = 10.0;    // largest weight of an element where the target is not x0
  double terminal_weight = 0.0;  // of the mean square of u(T) * x0: what noise leaves of a code
};

// Scalars, each with its gradient; total is their weighted sum.
struct Loss {
  at::Tensor total, mse, cross_entropy;
};

// Weight of an element's squared error under Target::velocity, detached:
//   min(cap, speed^2 * (u' - u * v' / v)^2)
//   noised.tau, noised.speed [B, ...] -> [B, ...]
TESSERA_API at::Tensor velocity_weight(const Process& process, const Noised& noised, double cap);

// The same under Target::noise: min(cap, (u / v)^2), for eps_hat = (x - u * x0_hat) / v.
TESSERA_API at::Tensor noise_weight(const Process& process, const Noised& noised, double cap);

// Loss of a prediction.
//   x0_hat, x0 [B, ..., d], labels [B, ...], mask [B, ...] bool (true: counts) or undefined
// A mask that is false everywhere gives 0, not NaN.
TESSERA_API Loss objective(const Process& process, const Codebook& codebook, const Noised& noised,
                           const at::Tensor& x0_hat, const at::Tensor& x0, const at::Tensor& labels,
                           const at::Tensor& mask, const ObjectiveOptions& options = {});

}  // namespace tessera
