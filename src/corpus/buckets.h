#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace tessera::corpus {

// Lengths of a pair of sentences, in tokens.
struct PairLength {
  int64_t source, target;
  auto operator<=>(const PairLength&) const = default;

  bool covers(const PairLength& other) const {
    return source >= other.source && target >= other.target;
  }
  int64_t total() const { return source + target; }
};

// A length rounded up to the grid of padded lengths: multiples of `round_to` up to 64, then coarser
// and coarser, so that padding stays below about an eighth and long sentences do not need a bucket
// each.
int64_t bucket_length(int64_t length, int64_t round_to);

struct BucketOptions {
  int64_t tokens = 8000;  // limit of rows x max(source, target)
  int64_t max_buckets = 24;
  int64_t full_batches = 2;  // a bucket with sentences for fewer is merged into another
};

// Rows of a batch of this padded length: as many as `tokens` allow, rounded down to a multiple of 8
// if there are at least 8.
int64_t bucket_rows(const PairLength& length, int64_t tokens);

// A few padded lengths that cover all pairs with little padding, smaller ones first; the last
// covers every pair.
//   counts  number of pairs of every padded length
std::vector<PairLength> choose_buckets(const std::map<PairLength, int64_t>& counts,
                                       const BucketOptions& options);

// The bucket with the least padding among those that cover `length`, except `but` (-1: none); -1 if
// there is none.
int64_t cheapest_cover(const std::vector<PairLength>& buckets, const PairLength& length,
                       int64_t but = -1);

}  // namespace tessera::corpus
