#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::model {

// Symbols of a sentence, end included; of its target those of the longest candidate.
struct SentenceSize {
  int64_t source = 1, target = 1;
};

// Sentences that are generated together.
struct GenerationBatch {
  std::vector<size_t> sentences;   // their places among the sizes
  int64_t source = 0, target = 0;  // padded lengths
};

// Lengths are padded to few different ones, so that equal sentences have equal shapes whatever
// their neighbours: to multiples of 4, past 32 of 8, at most `limit` (which no length exceeds).
int64_t padded_length(int64_t length, int64_t limit);

// Puts every sentence into one batch, longest targets first. A batch holds at most `tokens`
// (sentences * candidates * padded target), but one sentence at least. Shorter sentences fill up a
// batch that is small: many small batches are slower than padding.
std::vector<GenerationBatch> plan_batches(std::span<const SentenceSize> sizes, int64_t candidates,
                                          int64_t tokens, int64_t limit);

}  // namespace tessera::model
