#pragma once

#include <tessera/process/trajectory.h>

#include <ATen/core/Tensor.h>

// The integer arithmetic of the paper's listing (appendix "Code Implementations"), for comparison
// with it. VP only. Its time steps count from 0, ours from 1: a row i of its table is our time i
// + 1.
namespace tessera::listing {

// The listing's `index`: the number of steps k >= 1 with u_k > u(t0). Paths that never exit get its
// cap of 100 on the ratio a/b.   t0 [...] -> [...]
at::Tensor index(const Trajectory& trajectory, const at::Tensor& t0);

// The listing's `tau` with both truncations, as a time of ours in {1 .. T}.   t [B], index [B, ...]
// -> [B, ...]
at::Tensor tau(const at::Tensor& t, const at::Tensor& index, double r, double horizon);

// The time whose table row the listing would look up: the whole step below, in {1 .. T}.
at::Tensor row_time(const at::Tensor& tau, double horizon);

}  // namespace tessera::listing
