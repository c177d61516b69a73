#pragma once

#include "seq2seq/candidate.h"

#include <tessera/process/sampler.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tessera::seq2seq {

// What became of a source sentence.
struct Generated {
  // Of a diffusion model, number k has the k / noises-th likeliest length; others give their best
  // first.
  std::vector<Candidate> candidates;
  size_t chosen = 0;
  int64_t predicted_length =
      0;                   // the likeliest tried, end symbol included; 0: the source was empty
  int64_t nfe = 0;         // network calls; 0: the source was empty
  bool truncated = false;  // the source was longer than the model's positions

  const Candidate& best() const { return candidates[chosen]; }
  const std::vector<text::Id>& ids() const { return best().ids; }
};

// A step of the sampler, for those who want to watch.
struct GenerationStep {
  const SampleStep& sample;         // of the batch; rows k*candidates .. belong to sources[k]
  std::span<const size_t> sources;  // places of the sentences among the sources
  int64_t candidates;               // of every sentence
  int64_t calls;                    // of the network, when all steps are done
  const at::Tensor& visible;        // [rows, L] bool: positions that count
};

struct GenerateHooks {
  // Numbers of the sources in the input, from 0: warnings name them. None: 0, 1, ...
  std::span<const int64_t> lines = {};
  // Of the random numbers of every source; none: all have the seed of the sampler's options.
  std::span<const uint64_t> seeds = {};
  // Lengths of the targets, end symbol included, where they are known; none: they are predicted.
  std::span<const int64_t> target_lengths = {};
  std::function<void(int64_t sentences)> progress{};  // so many more are done
  // Before every network call, in any thread: what it throws ends the generation.
  std::function<void()> pause{};
  // Whether nobody waits for a source any more, by its place; asked in any thread. A batch is left
  // when nobody waits for any of its sources, which then have no candidates.
  std::function<bool(size_t source)> stopped{};
  // Before every next step of a diffusion model; slows it down.
  std::function<void(const GenerationStep&)> step{};
};

}  // namespace tessera::seq2seq
