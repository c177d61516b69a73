#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::text {

// How often pairs of symbols occur, and in which words; the most frequent one is always at hand.
//
// subword-nmt keeps two tables of counts: a small one that it searches and updates, and a full one
// that takes what falls below a threshold and is consulted when the small one runs dry. Its counts
// are not always exact (a pair that was put aside and then occurs anew loses its old count), and
// which merges are learned depends on it. This class keeps both tables in the same way, so that the
// merges come out the same.
class PairStatistics {
 public:
  // A change in how often a pair occurs in a word.
  struct Occurrence {
    uint32_t word;
    int32_t count;
  };
  struct Pair {
    int32_t first, second;  // symbols
    int64_t count = 0;      // in the small table
    int64_t full = 0;       // in the full table
    bool counted = false;   // is in the small table
    bool kept = false;      // is in the full table
    std::vector<Occurrence> log = {};
  };

  // `names` are the symbols' strings, which decide between pairs of equal counts.
  explicit PairStatistics(const std::vector<std::string>& names)
      : names_(names), heap_(Less{this}) {}
  PairStatistics(const PairStatistics&) = delete;
  PairStatistics& operator=(const PairStatistics&) = delete;

  // Adds `times` (which may be negative) in a word that occurs `frequency` times.
  void add(int32_t first, int32_t second, uint32_t word, int32_t times, int64_t frequency);

  // After the first counts: both tables are equal, and the threshold is a tenth of the largest.
  void start();

  // The pair to merge at this step (from 0); -1 if there is none at all.
  int32_t best(int64_t step);

  const Pair& operator[](int32_t pair) const { return pairs_[static_cast<size_t>(pair)]; }

  // The words the pair occurs in, once each. Forgets the pair's counts, because it is about to be
  // merged in these words.
  std::vector<uint32_t> take_words(int32_t pair);

  // To be called when the words have been changed.
  void finish_merge(int32_t pair, int64_t step);

 private:
  struct Entry {
    int64_t count;
    int32_t pair;
  };
  struct Less {
    const PairStatistics* statistics;
    bool operator()(const Entry& a, const Entry& b) const;
  };
  struct KeyHash {
    size_t operator()(uint64_t key) const { return (key * 0x9E3779B97F4A7C15ULL) >> 20; }
  };
  using Heap = std::priority_queue<Entry, std::vector<Entry>, Less>;

  int32_t find_or_add(int32_t first, int32_t second);
  bool less(int32_t a, int64_t count_a, int32_t b, int64_t count_b) const;
  void enter(int32_t pair);
  void prune();                // moves what is below the threshold into the full table
  int32_t top();               // of the small table; -1 if it is empty
  void restore(int64_t step);  // the small table from the full one
  void rebuild_heap();

  const std::vector<std::string>& names_;
  std::vector<Pair> pairs_;
  std::unordered_map<uint64_t, int32_t, KeyHash> index_;
  std::vector<int32_t> counted_;  // the pairs of the small table
  // May hold entries whose counts are too high, never too low. They are corrected when they come
  // up.
  Heap heap_;
  double threshold_ = 0;
  bool started_ = false;
};

}  // namespace tessera::text
