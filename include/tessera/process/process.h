#pragma once

#include <tessera/base/api.h>
#include <tessera/process/boundary.h>
#include <tessera/process/clock.h>
#include <tessera/process/codebook.h>
#include <tessera/process/time_warp.h>
#include <tessera/process/trajectory.h>
#include <tessera/tensor/random.h>

#include <optional>

namespace tessera {

// Whether the codes decide how little noise training uses. With s^2 their spacing (see Codebook),
// training times begin where v^2 = s^2 / (1 + s^2), so that the noise is enough to lead from a code
// to its neighbours (Dinoiser).
enum class MinTimeFromCodes {
  none,
  spacing,
  spacing_plus_one,  // with s^2 + 1 in place of s^2
};

template <>
struct EnumNames<MinTimeFromCodes> {
  static constexpr std::string_view what = "bound of the time";
  static constexpr std::array<std::pair<MinTimeFromCodes, std::string_view>, 3> values{
      {{MinTimeFromCodes::none, "none"},
       {MinTimeFromCodes::spacing, "spacing"},
       {MinTimeFromCodes::spacing_plus_one, "spacing-plus-one"}}};
};

struct ProcessOptions {
  TrajectoryOptions trajectory = {};
  double r = 1.0;                 // confidence factor: 0 plain diffusion, 1 from border to noise
  double noise_factor = 1.0;      // F: training noise is F * N(0, I)
  NoExit no_exit = NoExit::full;  // stopping time of paths that never leave their cell
  bool exact_index = false;       // VP only: the integer arithmetic of the paper's listing
  double min_time = 0;            // where training times begin, as a share of T
  MinTimeFromCodes min_time_from_codes = MinTimeFromCodes::none;  // or later, from the codes
};

// A noisy point and where it came from.
struct Noised {
  at::Tensor x;      // [B, ..., d]  u(tau) * x0 + v(tau) * eps
  at::Tensor tau;    // [B, ...]     rescaled time of every element
  at::Tensor t0;     // [B, ...]     stopping time of every element
  at::Tensor speed;  // [B, ...]     d tau / d t
  // outside and no_exit are undefined if r = 0, which needs no boundary:
  at::Tensor outside;   // [B, ...]     bool: x0 outside its own cell
  at::Tensor no_exit;   // [B, ...]     bool: the path never leaves
  at::Tensor eps = {};  // [B, ..., d]  the noise end of the path
};

// The forward process (Algorithm 1, lines 2 to 5). Immutable.
class TESSERA_API Process {
 public:
  // Throws UsageError for options that make no sense.
  //   warp  a schedule for every position of a sequence (r = 0 only); none: all are at time t
  explicit Process(const ProcessOptions& options = {}, const std::optional<TimeWarp>& warp = {});

  const ProcessOptions& options() const { return options_; }
  const Trajectory& trajectory() const { return trajectory_; }
  const Clock& clock() const { return clock_; }
  const std::optional<TimeWarp>& warp() const { return warp_; }

  // The numbers that training times are made from, one per sample: t ~ uniform{1 .. T}, or, if
  // times have a bound, ~ uniform[0, 1).   samples [B] int64 -> [B] float32
  at::Tensor draw_time(const StreamId& id, const at::Tensor& samples) const;

  // Training times from such numbers: the numbers themselves, or, if times have a bound, real
  // numbers ~ uniform[bound, T). The bound depends on the codes as they are now.   [B] -> [B]
  at::Tensor training_time(const Codebook& codebook, const at::Tensor& drawn) const;

  // The bound of training times, as a share of T.   -> scalar on the device of the codes
  at::Tensor min_time(const Codebook& codebook) const;

  // eps ~ F * N(0, I).   samples [B] int64 -> [B, shape...] float32
  at::Tensor draw_noise(const StreamId& id, const at::Tensor& samples, at::IntArrayRef shape) const;

  // The noisy point at time t of the rescaled path from x0 to eps. Gradients flow to x0.
  //   x0, eps [B, ..., d], labels [B, ...] int64, t [B] in [0, T]
  Noised noise(const Codebook& codebook, const at::Tensor& x0, const at::Tensor& labels,
               const at::Tensor& eps, const at::Tensor& t) const;

 private:
  ProcessOptions options_;
  Trajectory trajectory_;
  Clock clock_;
  std::optional<TimeWarp> warp_;
};

}  // namespace tessera
