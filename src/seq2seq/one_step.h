#pragma once

#include "corpus/split.h"

#include <tessera/process/estimate.h>

#include <cstdint>

namespace tessera::seq2seq {

class Diffusion;

// How well a diffusion model finds the clean sentence in a single step, from noise as in training
// (every time alike), without an estimate of its own to begin with. Means over tokens.
struct OneStep {
  int64_t tokens = 0;
  double x0_error = 0;        // squared error of the estimate, mean over dimensions
  double velocity_error = 0;  // the same, in terms of the rescaled vector field (capped: method.md)
  double accuracy = 0;        // share of the estimates that lie in the right cell
  double reach = 0;           // length of the estimate over that of the codes
  double raw_x0_error = 0, raw_reach = 0;  // the same two of the network's estimate as it is
};

// Of the estimate a sampler uses; over a split; noise is a function of (seed, place in the split).
// The model's family has a process.
//   batch_tokens  of a batch, padding included
OneStep measure_one_step(const Diffusion& model, const corpus::Split& split, int64_t batch_tokens,
                         uint64_t seed, Estimate estimate = Estimate::raw);

}  // namespace tessera::seq2seq
