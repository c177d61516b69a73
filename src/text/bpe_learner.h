#pragma once

#include "text/bpe.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tessera::text {

// How often each word occurs.
using WordCounts = std::unordered_map<std::string, int64_t>;

// Counts the words of a line as subword-nmt does: only spaces separate words (a tab is part of a
// word).
void count_words(std::string_view line, WordCounts& counts);

struct BpeLearnerOptions {
  int64_t merges = 10000;     // at most
  int64_t min_frequency = 2;  // of a pair to be merged

  // Called after each merge with the number of different symbols the words are made of now; false
  // ends the learning. Symbols at the end of a word and elsewhere are different.
  std::function<bool(int64_t symbols)> after_merge = {};
};

// The same merges that subword-nmt 0.3.8 learns from these words, even in ties. Fewer than asked
// for if no pair is frequent enough.
BpeCodes learn_bpe(const WordCounts& words, const BpeLearnerOptions& options);

}  // namespace tessera::text
