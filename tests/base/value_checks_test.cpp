#include <tessera/base/error.h>
#include <tessera/base/value_checks.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

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

TEST(ValueChecks, HaveNothingDeferredOnTheCpu) {
  EXPECT_NO_THROW(raise_deferred_errors());
}

}  // namespace
}  // namespace tessera
