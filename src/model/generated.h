#pragma once

#include "model/candidate.h"

#include <tessera/process/sampler.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tessera::model {

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
  const SampleStep& sample;        // of the batch; rows k*candidates .. belong to lines[k]
  std::span<const int64_t> lines;  // line numbers of the sentences
  int64_t candidates;              // of every sentence
  const at::Tensor& visible;       // [rows, L] bool: positions that count
};

struct GenerateHooks {
  int64_t first_line = 0;  // number of the first source
  // Lengths of the targets, end symbol included, where they are known; none: they are predicted.
  std::span<const int64_t> target_lengths = {};
  std::function<void(int64_t sentences)> progress{};  // so many more are done
  // Before every network call, in any thread: what it throws ends the generation.
  std::function<void()> pause{};
  // Before every next step of a diffusion model; slows it down.
  std::function<void(const GenerationStep&)> step{};
};

}  // namespace tessera::model
