#pragma once

#include "text/dictionary.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::seq2seq {

// A source to generate from: not empty and not too long.
struct SourceSentence {
  size_t index = 0;           // its place among the sources
  int64_t line = 0;           // its number in the input, from 0, for messages
  std::vector<text::Id> ids;  // end symbol included
  uint64_t seed = 0;          // of its random numbers
  int64_t noise = 0;          // which of the seed's random numbers: see NoiseOf

  // Shortens it to at most `symbols` symbols, the last of which is the end symbol.
  void shorten_to(int64_t symbols);
};

// Symbols of a source, and of its longest candidate; end symbols included.
struct SentenceSize {
  int64_t source = 1, target = 1;
};

// Sentences that are generated together.
struct GenerationBatch {
  std::vector<size_t> sentences;   // their places among the sizes
  int64_t source = 0, target = 0;  // padded lengths
};

// Lengths are padded to few different ones, so that equal sentences have equal shapes whatever else
// is in the batch: to multiples of 4, above 32 of 8, at most `limit` (which no length exceeds).
int64_t padded_length(int64_t length, int64_t limit);

// How large batches may and should be.
struct BatchLimits {
  int64_t candidates = 1;   // rows per sentence
  int64_t tokens = 48000;   // most sentences * candidates * padded target; one sentence always fits
  int64_t positions = 512;  // longest sentence
  // What a batch costs besides its tokens, counted in tokens: launching the kernels of small
  // batches takes longer than running them.
  int64_t overhead = 0;
};

// Divides the sentences into batches, those with the longest targets first, at the least cost in
// tokens and overhead. A few short sentences may join longer ones.
std::vector<GenerationBatch> plan_batches(std::span<const SentenceSize> sizes,
                                          const BatchLimits& limits);

// What a batch costs on a device besides its tokens (BatchLimits::overhead).
int64_t batch_overhead(at::Device device);

// The largest batch that is worth its size on a device, in tokens. On a CPU, states of larger ones
// leave the cache.
int64_t largest_useful_batch(at::Device device);

// The numbers of the random streams for a batch's candidates, functions of SourceSentence::noise
// and the candidate: [sentences * candidates] int64.
at::Tensor sample_numbers(std::span<const SourceSentence> sentences, const GenerationBatch& batch,
                          int64_t candidates, at::Device device);

// The seeds of a batch's candidates, as Sampler::run takes them: [sentences * candidates] int64.
at::Tensor sample_seeds(std::span<const SourceSentence> sentences, const GenerationBatch& batch,
                        int64_t candidates, at::Device device);

// Ids of a batch's sources on the device, padded: [sentences, batch.source] int64.
at::Tensor padded_sources(std::span<const SourceSentence> sentences, const GenerationBatch& batch,
                          at::Device device);

}  // namespace tessera::seq2seq
