#pragma once

#include <tessera/base/api.h>

#include <ATen/core/Tensor.h>

namespace tessera {

// Rescaled time: maps t in [0, T] onto [r*t0, T], so that a path starts at (a fraction r of) its
// cell's border. r = 0 is plain diffusion (tau = t), r = 1 starts on the border itself.
struct TESSERA_API Clock {
  double r;        // confidence factor, in [0, 1]
  double horizon;  // T

  Clock(double r, double horizon);  // throws UsageError for r outside [0, 1]

  // eq. 20, in the form that keeps tau(T) = T exact:  tau = t + r * t0 * (1 - t/T)
  //   t   [B], one per sample, or anything that broadcasts against t0
  //   t0  [B, ...], one per element
  //   returns tau [B, ...] >= t
  at::Tensor tau(const at::Tensor& t, const at::Tensor& t0) const;

  // d tau / d t = 1 - r * t0 / T
  at::Tensor speed(const at::Tensor& t0) const;
};

}  // namespace tessera
