#include <tessera/base/error.h>
#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace tessera {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ValueChecks, FindNaNAndInfinity) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    at::Tensor x = at::ones({3, 4});
    x[1][2] = bad;
    EXPECT_THAT([&] { check_finite(x, "eps"); }, ThrowsMessage<Error>(HasSubstr("eps contains")));
  }
  EXPECT_NO_THROW(check_finite(at::ones({3}), "x"));
  EXPECT_NO_THROW(check_finite(at::ones({0}), "x"));
}

TEST(ValueChecks, FindLabelsOutOfRange) {
  EXPECT_THAT(
      [] {
        check_range(at::tensor({0, 5}, at::kLong), 5, "labels");
      },
      ThrowsMessage<Error>(HasSubstr("labels must be in [0, 5), found 5")));
  EXPECT_THAT(
      [] {
        check_range(at::tensor({-1, 2}, at::kLong), 5, "labels");
      },
      ThrowsMessage<Error>(HasSubstr("found -1")));
  EXPECT_NO_THROW(check_range(at::tensor({0, 4}, at::kLong), 5, "labels"));
}

TEST(ValueChecks, CanBeTurnedOff) {
  set_value_checks(ValueChecks::off);
  EXPECT_NO_THROW(check_finite(at::full({2}, std::nan("")), "x"));
  EXPECT_NO_THROW(check_range(at::tensor({-1}, at::kLong), 5, "labels"));
  set_value_checks(ValueChecks::automatic);
  EXPECT_THROW(check_finite(at::full({2}, std::nan("")), "x"), Error);
}

at::Tensor bad() {
  return at::full({2}, std::nan(""));
}

TEST(ValueChecks, CanBeDeferred) {
  set_value_checks(ValueChecks::deferred);
  EXPECT_NO_THROW(check_finite(bad(), "x"));
  EXPECT_NO_THROW(check_range(at::tensor({-1}, at::kLong), 5, "labels"));
  EXPECT_THAT([] { raise_deferred_errors(); }, ThrowsMessage<Error>(HasSubstr("x contains")));
  EXPECT_NO_THROW(raise_deferred_errors());
  check_range(at::tensor({-1}, at::kLong), 5, "labels");
  EXPECT_THAT([] { raise_deferred_errors(); },
              ThrowsMessage<Error>(HasSubstr("labels must be in [0, 5)")));
  set_value_checks(ValueChecks::automatic);
}

TEST(ValueCheckScope, HasAModeAndErrorsOfItsOwn) {
  {
    const ValueCheckScope outer(ValueChecks::deferred);
    check_finite(bad(), "outer");
    {
      const ValueCheckScope inner;
      EXPECT_EQ(value_checks(), ValueChecks::deferred);
      EXPECT_NO_THROW(raise_deferred_errors());
      check_finite(bad(), "inner");
    }
    EXPECT_THAT([] { raise_deferred_errors(); }, ThrowsMessage<Error>(HasSubstr("outer contains")));
    EXPECT_NO_THROW(raise_deferred_errors()) << "an error outlived its scope";
    check_finite(bad(), "outer");
  }
  EXPECT_EQ(value_checks(), ValueChecks::automatic);
  EXPECT_NO_THROW(raise_deferred_errors()) << "an error outlived its scope";
}

TEST(ValueCheckScope, DoesNotMixTheErrorsOfThreads) {
  constexpr int kThreads = 4, kRounds = 50;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k)
    threads.emplace_back([&, k] {
      const std::string own = "argument " + std::to_string(k);
      for (int round = 0; round < kRounds; ++round) {
        const ValueCheckScope scope(ValueChecks::deferred);
        const bool fails = k % 2 == 0;
        check_finite(fails ? bad() : at::ones({2}), own);
        std::this_thread::yield();
        std::string found;
        try {
          raise_deferred_errors();
        } catch (const Error& error) {
          found = error.what();
        }
        wrong += found != (fails ? own + " contains NaN or infinite values" : "");
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_NO_THROW(raise_deferred_errors());
}

TEST(ValueCheckScope, TakesInOtherThreads) {
  const ValueCheckScope scope(ValueChecks::deferred);
  std::thread([of = ValueCheckScope::current()] {
    const ValueCheckScope joined(of);
    check_finite(bad(), "x");
  }).join();
  EXPECT_THAT([] { raise_deferred_errors(); }, ThrowsMessage<Error>(HasSubstr("x contains")));
}

TEST(ValueChecks, HaveNothingDeferredOnTheCpu) {
  EXPECT_NO_THROW(raise_deferred_errors());
}

}  // namespace
}  // namespace tessera
