#pragma once

#include <tessera/base/api.h>
#include <tessera/process/boundary.h>
#include <tessera/process/clock.h>
#include <tessera/process/codebook.h>
#include <tessera/process/trajectory.h>
#include <tessera/tensor/random.h>

namespace tessera {

struct ProcessOptions {
  TrajectoryOptions trajectory = {};
  double r = 1.0;                 // confidence factor: 0 plain diffusion, 1 from border to noise
  double noise_factor = 1.0;      // F: training noise is F * N(0, I)
  NoExit no_exit = NoExit::full;  // stopping time of paths that never leave their cell
  bool exact_index = false;       // VP only: the integer arithmetic of the paper's listing
};

// A noisy point and where it came from.
struct Noised {
  at::Tensor x;      // [B, ..., d]  u(tau) * x0 + v(tau) * eps
  at::Tensor tau;    // [B, ...]     rescaled time of every element
  at::Tensor t0;     // [B, ...]     stopping time of every element
  at::Tensor speed;  // [B, ...]     d tau / d t
  // Undefined where r = 0, when no boundary is asked for:
  at::Tensor outside;  // [B, ...]     bool: x0 outside its own cell
  at::Tensor no_exit;  // [B, ...]     bool: the path never leaves
};

// The forward process (Algorithm 1, lines 2 to 5). Immutable.
class TESSERA_API Process {
 public:
  // Throws UsageError for options that make no sense.
  explicit Process(const ProcessOptions& options = {});

  const ProcessOptions& options() const { return options_; }
  const Trajectory& trajectory() const { return trajectory_; }
  const Clock& clock() const { return clock_; }

  // t ~ uniform{1 .. T}, one per sample.   samples [B] int64 -> [B] float32
  at::Tensor draw_time(const StreamId& id, const at::Tensor& samples) const;

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
};

}  // namespace tessera
