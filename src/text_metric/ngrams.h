#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::text_metric {

// Gives equal n-grams of several texts equal numbers, order by order, without hashing: an n-gram is
// the number of its first n-1 symbols and its last symbol, which fit into 64 bits together.
//   NgramNumbering ngrams(texts);            // n = 1
//   for (...; ngrams.extend()) ... ngrams.of(text) ...
class NgramNumbering {
 public:
  // The symbols of each text; the numbers need not be dense.
  explicit NgramNumbering(std::span<const std::span<const int32_t>> texts);

  // From n-grams to n+1-grams.
  void extend();

  // The number of the n-gram at each position of a text, below count().
  std::span<const uint32_t> of(size_t text) const;

  size_t texts() const { return begin_.size(); }
  uint32_t count() const { return count_; }  // different n-grams in all texts

 private:
  struct Occurrence {
    uint64_t key;
    uint32_t position;  // in numbers_
  };

  void number();

  std::vector<int32_t> symbols_;  // of all texts
  std::vector<uint32_t> numbers_;
  std::vector<size_t> begin_, length_;  // of each text in symbols_, in n-grams
  std::vector<Occurrence> occurrences_;
  size_t n_ = 1;
  uint32_t count_ = 0;
};

}  // namespace tessera::text_metric
