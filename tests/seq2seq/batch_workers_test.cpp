#include "seq2seq/batch_workers.h"

#include "support/wait_until.h"

#include <tessera/base/error.h>
#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <set>

namespace tessera::seq2seq {
namespace {

// Batches that differ in the length of their sources.
std::vector<GenerationBatch> batches(int64_t count) {
  std::vector<GenerationBatch> result(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) result[static_cast<size_t>(k)].source = k;
  return result;
}

TEST(BatchWorkers, DoEveryBatchOnce) {
  for (const size_t at_once : {0u, 1u, 2u, 5u})
    for (const int64_t count : {0, 1, 4, 100}) {
      std::mutex mutex;
      std::multiset<int64_t> seen;
      for_each_batch(
          batches(count), at::kCPU,
          [&](const GenerationBatch& batch) {
            const std::lock_guard<std::mutex> lock(mutex);
            seen.insert(batch.source);
          },
          at_once);
      std::multiset<int64_t> all;
      for (int64_t k = 0; k < count; ++k) all.insert(k);
      EXPECT_EQ(seen, all) << at_once << " at once";
    }
}

TEST(BatchWorkers, WorkAtTheSameTime) {
  std::atomic<int> here = 0;
  for_each_batch(
      batches(2), at::kCPU,
      [&](const GenerationBatch&) {
        ++here;
        EXPECT_TRUE(test::wait_until([&] { return here == 2; })) << "it works alone";
      },
      2);
}

TEST(BatchWorkers, ThrowWhatAnyOfThemThrew) {
  for (const int64_t bad : {0, 1, 50, 99}) {
    const auto work = [&](const GenerationBatch& batch) {
      if (batch.source == bad) throw Error("no luck");
    };
    EXPECT_THROW(for_each_batch(batches(100), at::kCPU, work, 2), Error);
  }
}

TEST(BatchWorkers, ComputeGradientsWhereTheCallerDoes) {
  for (const bool with_gradients : {false, true}) {
    const c10::AutoGradMode mode(with_gradients);
    for_each_batch(
        batches(20), at::kCPU,
        [&](const GenerationBatch&) { EXPECT_EQ(c10::GradMode::is_enabled(), with_gradients); }, 3);
  }
}

TEST(BatchWorkers, FailChecksOfTheCaller) {
  const ValueCheckScope scope(ValueChecks::deferred);
  std::atomic<int> here = 0;
  for_each_batch(
      batches(2), at::kCPU,
      [&](const GenerationBatch&) {
        // Both threads get here, and the second one fails.
        const bool second = here++ == 1;
        EXPECT_TRUE(test::wait_until([&] { return here == 2; }));
        check_finite(at::full({1}, second ? std::nan("") : 0.0), "x");
      },
      2);
  EXPECT_THROW(raise_deferred_errors(), Error);
}

}  // namespace
}  // namespace tessera::seq2seq
