#include "image_metric/frechet.h"

#include "image_metric/made_factor.h"
#include "image_metric/moments.h"
#include "support/complaint.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tessera::image_metric {
namespace {

using testing::HasSubstr;

at::Tensor mean_of_rule(int64_t factor, int64_t modulus) {
  return (at::arange(8, at::kLong) * factor).remainder(modulus).to(at::kDouble);
}

// F Fᵀ, with the factor's columns from `begin` to `end` only: a covariance of that rank.
at::Tensor made_covariance(int64_t a, int64_t b, double diagonal, int64_t begin = 0,
                           int64_t end = 8) {
  const at::Tensor factor = test::made_factor(8, 8, a, b) + diagonal * at::eye(8, at::kDouble);
  const at::Tensor columns = factor.slice(1, begin, end);
  return at::mm(columns, columns.t());
}

const at::Tensor kFirstMean = mean_of_rule(3, 5), kSecondMean = mean_of_rule(2, 7);

void expect_distance(const Gaussian& a, const Gaussian& b, double expected) {
  EXPECT_NEAR(frechet_distance(a, b), expected, 1e-9 * expected);
  EXPECT_NEAR(frechet_distance(b, a), expected, 1e-9 * expected) << "the other way round";
}

// mpmath 1.4.1 with 60 digits; sqrtm of SciPy 1.17.1 says 431.2149858177793
TEST(FrechetDistance, IsThatOfAReference) {
  expect_distance({kFirstMean, made_covariance(5, 7, 4)}, {kSecondMean, made_covariance(2, 3, 6)},
                  431.21498581777814568);
}

// mpmath 1.4.1 with 60 digits; SciPy's sqrtm is right to 1e-8 only
TEST(FrechetDistance, OfSingularCovariancesIsThatOfAReference) {
  const Gaussian rank3{kFirstMean, made_covariance(5, 7, 4, 0, 3)};
  const Gaussian rank4{kSecondMean, made_covariance(2, 3, 6, 2, 6)};
  const Gaussian full{kSecondMean, made_covariance(2, 3, 6)};
  const double loose = 1e-7;  // an eigenvalue of 0 is computed as 1e-14, its root as 1e-7
  EXPECT_NEAR(frechet_distance(rank3, rank4) / 374.42648906836355648, 1, loose);
  EXPECT_NEAR(frechet_distance(rank4, rank3) / 374.42648906836355648, 1, loose);
  EXPECT_NEAR(frechet_distance(rank3, full) / 647.26416534973847417, 1, loose);
  EXPECT_NEAR(frechet_distance(full, rank3) / 647.26416534973847417, 1, loose);
}

// Commuting covariances: Σ (√λ - √μ)² of the eigenvalues.
TEST(FrechetDistance, OfDiagonalCovariancesIsKnown) {
  const at::Tensor zero = at::zeros({4}, at::kDouble);
  const auto diagonal = [&](std::vector<double> values) {
    return Gaussian{zero, at::diag(at::tensor(values, at::kDouble))};
  };
  expect_distance(diagonal({1, 4, 9, 16}), diagonal({4, 4, 1, 0}), 1 + 0 + 4 + 16);
  expect_distance(diagonal({1e12, 1, 1e-12, 0}), diagonal({0, 1e-12, 1, 1e12}),
                  2 * 1e12 + 2 * std::pow(1 - 1e-6, 2));
  expect_distance(diagonal({0, 0, 0, 0}), diagonal({2, 0, 0, 1}), 3);
  EXPECT_EQ(frechet_distance(diagonal({0, 0, 0, 0}), diagonal({0, 0, 0, 0})), 0);
}

TEST(FrechetDistance, OfEqualCovariancesIsThatOfTheMeans) {
  for (const int64_t rank : {1, 3, 8}) {
    const at::Tensor covariance = made_covariance(5, 7, 4, 0, rank);
    expect_distance({kFirstMean, covariance}, {kSecondMean, covariance}, 29);
  }
}

TEST(FrechetDistance, OfASetToItselfIsZero) {
  for (const int64_t count : {3, 60, 2000}) {
    Moments moments;
    moments.add(test::normal({count, 50}, 5, at::kDouble) * at::arange(1, 51, at::kDouble));
    const Gaussian gaussian = moments.gaussian();
    const double distance = frechet_distance(gaussian, gaussian);
    EXPECT_GE(distance, 0);
    EXPECT_LT(distance, 1e-12 * gaussian.covariance.trace().item<double>()) << count;
  }
}

TEST(FrechetDistance, IsFiniteAndNotNegativeForFewSamples) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Moments a, b;
    a.add(test::normal({2 + static_cast<int64_t>(seed), 30}, 10 + seed));
    b.add(test::normal({5, 30}, 50 + seed) * 1e-6);
    const double distance = frechet_distance(a.gaussian(), b.gaussian());
    EXPECT_TRUE(std::isfinite(distance));
    EXPECT_GT(distance, 0);
  }
}

TEST(FrechetDistance, RefusesWhatMakesNoSense) {
  const at::Tensor eye = at::eye(8, at::kDouble);
  const Gaussian good{kFirstMean, eye};
  const auto complaint = [&](const Gaussian& bad) {
    return test::complaint([&] { frechet_distance(good, bad); });
  };
  EXPECT_THAT(complaint({kFirstMean.slice(0, 0, 7), eye.slice(0, 0, 7).slice(1, 0, 7)}),
              HasSubstr("the first set has 8 features and the second 7"));
  EXPECT_THAT(complaint({kFirstMean, eye.slice(0, 0, 7)}), HasSubstr("covariance"));
  EXPECT_THAT(complaint({kFirstMean, eye * std::numeric_limits<double>::infinity()}),
              HasSubstr("the second set contain NaN or infinite"));
  EXPECT_THAT(complaint({kFirstMean, -eye}), HasSubstr("no covariance"));
}

}  // namespace
}  // namespace tessera::image_metric
