#include "image_metric/kernel_distance.h"

#include "image_metric/made_factor.h"
#include "support/complaint.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::image_metric {
namespace {

using testing::HasSubstr;

const at::Tensor kFirst = test::made_factor(6, 4, 5, 7) / 4;
const at::Tensor kSecond = test::made_factor(7, 4, 2, 3) / 4 + 0.5;

// NumPy 2.4.6, float64
TEST(KernelDistance, IsThatOfAReference) {
  EXPECT_NEAR(squared_discrepancy(kFirst, kSecond), 2.3419677007765998, 1e-12);
  EXPECT_NEAR(squared_discrepancy(kSecond, kFirst), 2.3419677007765998, 1e-12);
  EXPECT_NEAR(squared_discrepancy(kFirst.to(at::kFloat), kSecond.to(at::kFloat)),
              2.3419677007765998, 1e-12)
      << "these numbers are float32, and the sums are float64";
}

TEST(KernelDistance, OverWholeSetsIsThatOfTheSets) {
  const auto found = kernel_distance(kFirst, kSecond.slice(0, 0, 6), {3, 1000, 1});
  EXPECT_EQ(found.subset_size, 6);
  EXPECT_EQ(found.subsets, 3);
  EXPECT_NEAR(found.mean, squared_discrepancy(kFirst, kSecond.slice(0, 0, 6)), 1e-12);
  EXPECT_NEAR(found.deviation, 0, 1e-12);
}

TEST(KernelDistance, IsAFunctionOfTheSeed) {
  const at::Tensor x = test::normal({400, 8}, 1), y = test::normal({300, 8}, 2) * 1.2;
  const auto found = kernel_distance(x, y, {10, 50, 7});
  EXPECT_EQ(found.mean, kernel_distance(x, y, {10, 50, 7}).mean);
  EXPECT_EQ(found.deviation, kernel_distance(x, y, {10, 50, 7}).deviation);
  EXPECT_NE(found.mean, kernel_distance(x, y, {10, 50, 8}).mean);
  EXPECT_GT(found.deviation, 0);
}

TEST(KernelDistance, OfSubsetsIsUnbiased) {
  const at::Tensor x = test::normal({2000, 8}, 3), y = test::normal({2000, 8}, 4) + 0.3;
  const auto found = kernel_distance(x, y, {400, 40, 1});
  const double error = found.deviation / std::sqrt(400.0);
  EXPECT_NEAR(found.mean, squared_discrepancy(x, y), 4 * error);
  EXPECT_LT(error, found.mean / 10) << "else nothing was tested";
  const auto same = kernel_distance(x, test::normal({2000, 8}, 5), {400, 40, 1});
  EXPECT_NEAR(same.mean, 0, 4 * same.deviation / std::sqrt(400.0) + 0.01);
}

TEST(KernelDistance, RefusesWhatMakesNoSense) {
  EXPECT_THAT(test::complaint([] { squared_discrepancy(kFirst, kSecond.slice(1, 0, 3)); }),
              HasSubstr("the first set has 4 features and the second 3"));
  EXPECT_THAT(test::complaint([] { squared_discrepancy(kFirst.slice(0, 0, 1), kSecond); }),
              HasSubstr("at least two"));
  EXPECT_THROW(kernel_distance(kFirst, kSecond, {0, 10, 1}), UsageError);
  EXPECT_THROW(kernel_distance(kFirst, kSecond, {10, 1, 1}), UsageError);
}

}  // namespace
}  // namespace tessera::image_metric
