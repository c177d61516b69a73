#include "image_metric/moments.h"

#include "support/complaint.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tessera::image_metric {
namespace {

using testing::HasSubstr;

// Straight from the definition.
at::Tensor plain_covariance(const at::Tensor& x) {
  const at::Tensor centred = x - x.mean(0);
  return at::mm(centred.t(), centred) / static_cast<double>(x.size(0) - 1);
}

TEST(Moments, AreThoseOfAllVectorsWhateverTheBatches) {
  const at::Tensor x = test::normal({1000, 7}, 1, at::kDouble) * 3 + 2;
  for (const int64_t batch : {1, 13, 999, 1000}) {
    Moments moments;
    for (const at::Tensor& part : x.split(batch)) moments.add(part);
    EXPECT_EQ(moments.count(), 1000);
    EXPECT_EQ(moments.dim(), 7);
    EXPECT_LT(test::largest_difference(moments.mean(), x.mean(0)), 1e-12);
    EXPECT_LT(test::largest_difference(moments.covariance(), plain_covariance(x)), 1e-12);
  }
}

TEST(Moments, KeepTheirDigitsFarFromZero) {
  const at::Tensor x = test::normal({500, 4}, 2, at::kDouble);
  Moments moments;
  for (const at::Tensor& part : (x + 1e8).split(50)) moments.add(part);
  // Adding 1e8 already rounds to 1e-8. Plain sums of squares would leave no digits at all.
  EXPECT_LT(test::largest_difference(moments.covariance(), plain_covariance(x)), 1e-6);
}

TEST(Moments, OfFloat32AreKeptInFloat64) {
  const at::Tensor x = test::normal({300, 3}, 3) + 1000;
  Moments moments;
  moments.add(x);
  EXPECT_EQ(moments.mean().scalar_type(), at::kDouble);
  EXPECT_LT(test::largest_difference(moments.covariance(), plain_covariance(x.to(at::kDouble))),
            1e-12);
}

TEST(Moments, MergeAsIfAddedHere) {
  const at::Tensor x = test::normal({90, 5}, 4, at::kDouble);
  Moments all, left, right, empty;
  all.add(x);
  left.add(x.slice(0, 0, 30));
  right.add(x.slice(0, 30, 90));
  empty.merge(left);
  empty.merge(right);
  empty.merge(Moments());
  EXPECT_EQ(empty.count(), 90);
  EXPECT_LT(test::largest_difference(empty.covariance(), all.covariance()), 1e-12);
  EXPECT_EQ(left.count(), 30);
  EXPECT_LT(test::largest_difference(left.mean(), x.slice(0, 0, 30).mean(0)), 1e-12)
      << "what is merged stays as it was";
}

TEST(Moments, TakeEmptyBatches) {
  Moments moments;
  moments.add(at::zeros({0, 3}));
  EXPECT_EQ(moments.count(), 0);
}

TEST(Moments, RefuseWhatMakesNoSense) {
  Moments moments;
  EXPECT_THAT(test::complaint([&] { moments.mean(); }), HasSubstr("no features were given"));
  moments.add(at::ones({1, 3}));
  EXPECT_THAT(test::complaint([&] { moments.covariance(); }), HasSubstr("at least two"));
  EXPECT_THAT(test::complaint([&] {
                moments.add(at::ones({2, 4}));
              }),
              HasSubstr("vectors of 4 numbers, but those before them have 3"));
  EXPECT_THAT(test::complaint([&] { moments.add(at::ones({3})); }), HasSubstr("must be [n, D]"));
  EXPECT_THAT(
      test::complaint([&] {
        moments.add(at::full({2, 3}, std::numeric_limits<double>::quiet_NaN(), at::kDouble));
      }),
      HasSubstr("NaN"));
  EXPECT_EQ(moments.count(), 1) << "nothing of what was refused is kept";
}

}  // namespace
}  // namespace tessera::image_metric
