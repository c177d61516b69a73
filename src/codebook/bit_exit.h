#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

struct BitExitRatio {
  at::Tensor patterns;  // [...] int64
  at::Tensor ratio;     // [...] u/v at the first exit; special cases: kernels/bit_exit.h
  at::Tensor outside;   // [...] bool
};

// The pattern of a point: bit i set where coordinate i is above 0.   x [..., width] -> [...] int64
at::Tensor bit_patterns(const at::Tensor& x);

// Exits from orthants.   x0, eps [..., width], patterns [...] int64 (bit i set: coordinate i is
// positive; -1: no cell), or undefined: the patterns of x0.
BitExitRatio bit_exit_ratio(const at::Tensor& x0, const at::Tensor& eps,
                            const at::Tensor& patterns);

}  // namespace tessera
