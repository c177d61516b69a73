#pragma once

#include "corpus/buckets.h"
#include "corpus/split.h"

#include <compare>
#include <cstdint>
#include <vector>

namespace tessera::corpus {

struct BatcherOptions {
  int64_t tokens = 8000;     // limit of sentences x max(padded source, padded target) in a batch
  int64_t max_length = 256;  // longer sentences (end symbol included) are left out, and counted
  int64_t round_to = 4;      // padded lengths are multiples of it (coarser for long sentences)
  int64_t max_buckets = 24;  // limit of different shapes
  // Pad both sides of a batch to one length: only the longer side decides which sentences share a
  // batch, so that a batch has sentences of every length ratio.
  bool square = false;
  bool shuffle = true;  // false: in the order of the split, bucket by bucket, in every epoch
};

// The shape of all batches of a bucket.
struct BatchShape {
  int64_t rows, source, target;
  auto operator<=>(const BatchShape&) const = default;
};

// Sentences of one batch, padded to its bucket's shape. Rows past `used` are empty: their source is
// one end symbol (attention needs a key), their target all padding.
struct Batch {
  BatchShape shape;
  int64_t used;
  std::vector<int64_t> sentences;  // [used] their numbers in the split
  std::vector<int64_t> source;     // [rows * source] ids, padded
  std::vector<int64_t> target;     // [rows * target]
};

// The batches of a split, epoch after epoch. Which sentences are in which batch is a function of
// (seed, epoch), so training can continue from any batch. Every batch has the shape of one of a few
// buckets. Sentences that do not fill a batch of their bucket move on to the next larger one; only
// the last batch of the largest bucket has empty rows. It remembers the order of the last requested
// epoch, so it belongs to one thread.
class Batcher {
 public:
  // Throws UsageError if the options leave no sentence, or one that is longer than a whole batch.
  Batcher(const Split& split, const BatcherOptions& options, uint64_t seed);

  const std::vector<BatchShape>& shapes() const { return shapes_; }
  int64_t left_out() const { return left_out_; }  // sentences longer than max_length

  // Epochs may differ by a few batches.
  int64_t batches(int64_t epoch) const;
  Batch batch(int64_t epoch, int64_t index) const;

 private:
  // Which sentences are in which batch.
  struct Plan {
    struct Range {
      size_t bucket;
      int64_t begin, used;  // in `sentences`
    };
    int64_t epoch = -1;
    std::vector<int64_t> sentences;
    std::vector<Range> batches;
  };

  const Plan& plan(int64_t epoch) const;
  Plan make_plan(int64_t epoch) const;

  Split split_;
  BatcherOptions options_;
  uint64_t seed_;
  int64_t left_out_ = 0;
  std::vector<BatchShape> shapes_;               // by size; the last one covers all others
  std::vector<size_t> next_;                     // of a bucket: where its leftovers go
  std::vector<std::vector<int64_t>> sentences_;  // of a bucket, ascending
  mutable Plan plan_;
};

}  // namespace tessera::corpus
