#include "corpus/buckets.h"

#include "base/require.h"
#include "base/rounding.h"

#include <algorithm>
#include <limits>

namespace tessera::corpus {
namespace {

constexpr int64_t kRowMultiple = 8;  // efficient on GPUs

PairLength united(const PairLength& a, const PairLength& b) {
  return {std::max(a.source, b.source), std::max(a.target, b.target)};
}

// Merges buckets two by two, always those that cost the fewest padded tokens.
class Merger {
 public:
  Merger(const std::map<PairLength, int64_t>& counts, const BucketOptions& options)
      : options_(options) {
    for (const auto& [length, count] : counts) buckets_.push_back({length, count});
    PairLength top{0, 0};
    for (const Bucket& bucket : buckets_) top = united(top, bucket.length);
    if (std::none_of(buckets_.begin(), buckets_.end(),
                     [&](const Bucket& bucket) { return bucket.length == top; }))
      buckets_.push_back({top, 0});
    top_ = top;
    for (Bucket& bucket : buckets_) find_partner(bucket);
  }

  std::vector<PairLength> run() {
    while (static_cast<int64_t>(buckets_.size()) > options_.max_buckets)
      merge(cheapest([](const Bucket&) { return true; }));
    for (size_t sparse = find_sparse(); sparse < buckets_.size(); sparse = find_sparse())
      merge(sparse);
    std::vector<PairLength> lengths;
    for (const Bucket& bucket : buckets_) lengths.push_back(bucket.length);
    return lengths;
  }

 private:
  struct Bucket {
    PairLength length;
    int64_t count;
    size_t partner = 0;  // the one it merges with at the least cost
    int64_t cost = 0;
  };

  static int64_t merge_cost(const Bucket& a, const Bucket& b) {
    const int64_t total = united(a.length, b.length).total();
    return a.count * (total - a.length.total()) + b.count * (total - b.length.total());
  }

  void find_partner(Bucket& bucket) {
    bucket.cost = std::numeric_limits<int64_t>::max();
    for (size_t k = 0; k < buckets_.size(); ++k) {
      if (&buckets_[k] == &bucket) continue;
      const int64_t cost = merge_cost(bucket, buckets_[k]);
      if (cost >= bucket.cost) continue;
      bucket.cost = cost;
      bucket.partner = k;
    }
  }

  template <class Condition>
  size_t cheapest(Condition&& condition) const {
    size_t best = buckets_.size();
    for (size_t k = 0; k < buckets_.size(); ++k)
      if (condition(buckets_[k]) &&
          (best == buckets_.size() || buckets_[k].cost < buckets_[best].cost))
        best = k;
    return best;
  }

  // The bucket that covers all may be sparse: it takes what the others leave over.
  size_t find_sparse() const {
    if (buckets_.size() == 1) return 1;
    return cheapest([&](const Bucket& bucket) {
      return bucket.length != top_ &&
             bucket.count < options_.full_batches * bucket_rows(bucket.length, options_.tokens);
    });
  }

  void merge(size_t index) {
    const size_t kept = std::min(index, buckets_[index].partner);
    const size_t gone = std::max(index, buckets_[index].partner);
    buckets_[kept].length = united(buckets_[kept].length, buckets_[gone].length);
    buckets_[kept].count += buckets_[gone].count;
    const size_t last = buckets_.size() - 1;
    buckets_[gone] = buckets_[last];
    buckets_.pop_back();
    // Two buckets may have become equal; merging them costs nothing, so it is done next.
    for (Bucket& bucket : buckets_) {
      const bool stale =
          &bucket == &buckets_[kept] || bucket.partner == kept || bucket.partner == gone;
      if (bucket.partner == last) bucket.partner = gone;
      if (stale) {
        find_partner(bucket);
      } else if (const int64_t cost = merge_cost(bucket, buckets_[kept]); cost < bucket.cost) {
        bucket.cost = cost;
        bucket.partner = kept;
      }
    }
  }

  const BucketOptions options_;
  std::vector<Bucket> buckets_;
  PairLength top_;
};

}  // namespace

int64_t bucket_length(int64_t length, int64_t round_to) {
  int64_t step = round_to;
  for (int64_t limit = 64; length > limit && step < 64; limit *= 2)
    step = round_up(limit / 4, round_to);
  return round_up(std::max<int64_t>(length, 1), step);
}

int64_t bucket_rows(const PairLength& length, int64_t tokens) {
  const int64_t rows = tokens / std::max(length.source, length.target);
  return rows >= kRowMultiple ? rows / kRowMultiple * kRowMultiple : std::max<int64_t>(rows, 1);
}

std::vector<PairLength> choose_buckets(const std::map<PairLength, int64_t>& counts,
                                       const BucketOptions& options) {
  require(!counts.empty(), "there are no sentences to choose buckets for");
  std::vector<PairLength> buckets = Merger(counts, options).run();
  std::sort(buckets.begin(), buckets.end(), [](const PairLength& a, const PairLength& b) {
    return a.total() != b.total() ? a.total() < b.total() : a < b;
  });
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  return buckets;
}

int64_t cheapest_cover(const std::vector<PairLength>& buckets, const PairLength& length,
                       int64_t but) {
  int64_t best = -1;
  for (int64_t k = 0; k < static_cast<int64_t>(buckets.size()); ++k)
    if (k != but && buckets[k].covers(length) &&
        (best < 0 || buckets[k].total() < buckets[best].total()))
      best = k;
  return best;
}

}  // namespace tessera::corpus
