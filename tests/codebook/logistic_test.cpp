#include "codebook/logistic.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

at::Tensor logistic(double mean, double log_scale, at::ScalarType dtype = at::kDouble) {
  return at::tensor({mean, log_scale}, at::kDouble).to(dtype);
}

const LogisticBins kCentred = LogisticBins::centred(256), kParts = LogisticBins::parts(256);

double log_probability(const at::Tensor& of, int64_t bin, const LogisticBins& bins = kCentred) {
  return logistic_log_probability(of, at::scalar_tensor(bin, at::kLong), bins).item<double>();
}

void expect_near(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-8 * std::abs(expected));
}

TEST(Logistic, IsAsComputedIndependently) {
  expect_near(log_probability(logistic(.1, -1), 0), -23.94117315);
  expect_near(log_probability(logistic(.1, -1), 128), -4.048678502);
  expect_near(log_probability(logistic(.1, -1), 141), -3.238409989);
  expect_near(log_probability(logistic(.1, -1), 255), -19.92406579);
  expect_near(log_probability(logistic(.1, -5), 0), -1201.996136);
  expect_near(log_probability(logistic(.1, -5), 141), -2.260623809);
  expect_near(log_probability(logistic(.1, -5), 255), -982.6695043);
  // The output of an untrained network that sees the value 128.
  const at::Tensor first = logistic(std::tanh(2 * 128 / 255.0 - 1), 0);
  expect_near(log_probability(first, 128) / std::log(2.0), -6.107331387);
  expect_near(log_probability(first, 0) / std::log(2.0), -14.81071985);
}

// Values computed independently, in float64.
TEST(Logistic, OfEqualPartsIsAsComputedIndependently) {
  expect_near(log_probability(logistic(.1, -1), 0, kParts), -23.86663597);
  expect_near(log_probability(logistic(.1, -1), 128, kParts), -4.052824626);
  expect_near(log_probability(logistic(.1, -1), 141, kParts), -3.241847629);
  expect_near(log_probability(logistic(.1, -1), 255, kParts), -19.84952862);
}

TEST(Logistic, SumsToOne) {
  for (const LogisticBins& bins : {kCentred, kParts})
    for (const double mean : {-1.0, -0.3, 0.1, 0.99})
      for (const double log_scale : {-9.0, -5.0, -1.0, 2.0, 20.0})
        for (const auto& [dtype, tolerance] :
             {std::pair(at::kDouble, 1e-9), std::pair(at::kFloat, 2e-3)}) {
          const at::Tensor all = logistic_log_probabilities(logistic(mean, log_scale, dtype), bins);
          EXPECT_NEAR(all.to(at::kDouble).exp().sum().item<double>(), 1, tolerance)
              << mean << " " << log_scale;
        }
}

TEST(Logistic, OfOneBinIsThatOfAll) {
  const at::Tensor many = at::stack({logistic(-.9, -6), logistic(.2, 0), logistic(1, -3)});
  for (const LogisticBins& bins : {LogisticBins::centred(16), LogisticBins::parts(16)}) {
    const at::Tensor all = logistic_log_probabilities(many, bins);
    for (int64_t bin = 0; bin < 16; ++bin)
      EXPECT_TRUE(at::allclose(logistic_log_probability(many, at::full({3}, bin, at::kLong), bins),
                               all.select(1, bin)));
  }
}

TEST(Logistic, MirrorsItsMean) {
  for (const LogisticBins& bins : {kCentred, kParts}) {
    const at::Tensor one = logistic_log_probabilities(logistic(.37, -2), bins),
                     other = logistic_log_probabilities(logistic(-.37, -2), bins);
    EXPECT_TRUE(at::allclose(one.flip({0}), other, 1e-11, 1e-11));
  }
}

TEST(Logistic, HasItsModeInTheNearestBin) {
  for (const LogisticBins& bins : {kCentred, kParts})
    for (const double mean : {-1.2, -1.0, -0.31, 0.1, 0.7, 1.0})
      EXPECT_EQ(logistic_mode(logistic(mean, -4), bins).item<int64_t>(),
                logistic_log_probabilities(logistic(mean, -4), bins).argmax().item<int64_t>());
}

TEST(Logistic, HasAGradientInBothTails) {
  for (const double log_scale : {-8.0, -5.0, 0.0, 10.0, 100.0})
    for (const int64_t bin : {0, 255}) {
      at::Tensor of = logistic(.1, log_scale, at::kFloat);
      of.requires_grad_();
      logistic_log_probability(of, at::scalar_tensor(bin, at::kLong), kCentred).backward();
      EXPECT_TRUE(of.grad().isfinite().all().item<bool>()) << log_scale << ": " << of.grad();
    }
}

}  // namespace
}  // namespace tessera
