#pragma once

#include "text/corpus.h"

#include <cstdint>
#include <vector>

namespace tessera::text {

struct BatcherOptions {
  int64_t tokens = 8000;     // sentences x max(padded source, padded target) of a batch, at most
  int64_t max_length = 256;  // longer sentences (end symbol included) are left out, and counted
  int64_t round_to = 4;      // padded lengths are multiples of it (coarser for long sentences)
};

// The shape all batches of a bucket have.
struct BatchShape {
  int64_t rows, source, target;
  auto operator<=>(const BatchShape&) const = default;
};

// Sentences of one batch, padded to its bucket's shape. Rows past `used` are empty: their source is one
// end symbol (attention needs a key), their target all padding.
struct Batch {
  BatchShape shape;
  int64_t used;
  std::vector<int64_t> sentences;  // [used] their numbers in the split
  std::vector<int64_t> source;     // [rows * source] ids, padded
  std::vector<int64_t> target;     // [rows * target]
};

// The batches of a split, epoch after epoch. Which sentences stand in which batch is a function of
// (seed, epoch), so training can go on from any batch. Every batch has the shape of one of few
// buckets. Sentences that do not fill a batch of their bucket move on to the next larger one; only
// the last batch of the largest bucket has empty rows.
class Batcher {
 public:
  Batcher(const Split& split, const BatcherOptions& options, uint64_t seed);

  const std::vector<BatchShape>& shapes() const;
  int64_t left_out() const;  // sentences longer than max_length

  // Epochs may have a few batches more or less than each other.
  int64_t batches(int64_t epoch) const;
  Batch batch(int64_t epoch, int64_t index) const;
};

}  // namespace tessera::text
