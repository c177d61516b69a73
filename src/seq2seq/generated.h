#pragma once

#include "seq2seq/candidate.h"

#include <tessera/process/sampler.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tessera::seq2seq {

// The result for a source sentence.
struct Generated {
  // Of a diffusion model, candidate k has the (k / noises)-th likeliest length. Other models have
  // their best candidates first.
  std::vector<Candidate> candidates;
  size_t chosen = 0;
  int64_t predicted_length =
      0;                   // the likeliest tried, end symbol included; 0: the source was empty
  int64_t nfe = 0;         // network calls; 0: the source was empty
  bool truncated = false;  // the source was longer than the model's positions

  const Candidate& best() const { return candidates[chosen]; }
  const std::vector<text::Id>& ids() const { return best().ids; }
};

// A step of the sampler, for callers that want to watch it.
struct GenerationStep {
  const SampleStep& sample;         // of the batch; rows k*candidates .. belong to sources[k]
  std::span<const size_t> sources;  // places of the sentences among the sources
  int64_t candidates;               // per sentence
  int64_t calls;                    // network calls of all steps together
  const at::Tensor& visible;        // [rows, L] bool: positions that count
};

struct GenerateHooks {
  // Line numbers of the sources in the input, from 0, for warnings. Empty: 0, 1, ...
  std::span<const int64_t> lines = {};
  // Seeds for the random numbers of every source. Empty: all have the seed of the sampler's
  // options.
  std::span<const uint64_t> seeds = {};
  // Lengths of the targets, end symbol included, if they are known. Empty: they are predicted.
  std::span<const int64_t> target_lengths = {};
  std::function<void(int64_t sentences)> progress{};  // called with the number of newly done ones
  // Called before every network call, in any thread. An exception from it ends the generation.
  std::function<void()> pause{};
  // Whether nobody waits for a source any more, given its index; called in any thread. A batch is
  // given up when nobody waits for any of its sources. These then have no candidates.
  std::function<bool(size_t source)> stopped{};
  // Called before every next step of a diffusion model; slows it down.
  std::function<void(const GenerationStep&)> step{};
};

}  // namespace tessera::seq2seq
