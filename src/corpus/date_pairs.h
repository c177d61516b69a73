#pragma once

#include "corpus/corpus_writer.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::corpus {

// A corpus that needs no files: dates written in many ways -> ISO dates,
//   "the third of March nineteen eighty-seven"  ->  "1987-03-03"
// character by character. No date of one split occurs in another, so a model that only remembers
// fails on valid and test.
struct DatePairs {
  struct Pair {
    std::string source, target;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> train, valid, test;
};

inline constexpr int64_t kDatePairs = 20000;  // for training, by default
inline constexpr int64_t kDateValid = 500, kTinyTest = 1000;

// A function of its arguments.
DatePairs make_date_pairs(uint64_t seed, int64_t pairs = kDatePairs);

// Writes the task as a corpus with a tokenizer of characters.
Manifest make_date_corpus(const std::filesystem::path& folder, uint64_t seed,
                          int64_t pairs = kDatePairs,
                          CorpusWriter::Existing existing = CorpusWriter::Existing::refuse);

}  // namespace tessera::corpus
