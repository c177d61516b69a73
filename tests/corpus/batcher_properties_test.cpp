#include "corpus/batcher.h"

#include "text/made_split.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace tessera::corpus {
namespace {

RC_GTEST_PROP(BatcherProperties, HoldForAnyLengthsAndOptions, ()) {
  const auto length = rc::gen::inRange<int64_t>(1, 150);
  const auto lengths = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::pair<int64_t, int64_t>>>(rc::gen::pair(length, length)));
  const BatcherOptions options{.tokens = *rc::gen::inRange<int64_t>(200, 2000),
                               .round_to = *rc::gen::inRange<int64_t>(1, 9),
                               .max_buckets = *rc::gen::inRange<int64_t>(1, 30),
                               .shuffle = *rc::gen::arbitrary<bool>()};
  const Batcher batcher(test::made_split(lengths), options, *rc::gen::arbitrary<uint64_t>());
  RC_ASSERT(static_cast<int64_t>(batcher.shapes().size()) <= options.max_buckets);

  const int64_t epoch = *rc::gen::inRange<int64_t>(0, 100);
  std::set<int64_t> seen;
  int64_t partly_empty = 0;
  for (int64_t k = 0; k < batcher.batches(epoch); ++k) {
    const Batch batch = batcher.batch(epoch, k);
    RC_ASSERT(batch.shape.rows * std::max(batch.shape.source, batch.shape.target) <=
              options.tokens);
    RC_ASSERT(batch.used >= 1);
    partly_empty += batch.used < batch.shape.rows;
    for (const int64_t sentence : batch.sentences) {
      RC_ASSERT(seen.insert(sentence).second);
      RC_ASSERT(lengths[sentence].first <= batch.shape.source);
      RC_ASSERT(lengths[sentence].second <= batch.shape.target);
    }
  }
  RC_ASSERT(seen.size() == lengths.size());
  RC_ASSERT(partly_empty <= 1);
}

}  // namespace
}  // namespace tessera::corpus
