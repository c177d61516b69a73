#include "kernels/cpu/int8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::kernels::cpu {
namespace {

std::vector<float> draw(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

struct LayerSize {
  int64_t rows, outputs, inputs;
};

std::vector<float> product(const Int8Kernels& kernels, const LayerSize& size,
                           const std::vector<float>& weights, const std::vector<float>& bias,
                           const std::vector<float>& x) {
  const Int8Matrix matrix(weights.data(), size.outputs, size.inputs);
  std::vector<float> y(static_cast<size_t>(size.rows * size.outputs));
  kernels.linear({&matrix, bias.empty() ? nullptr : bias.data()}, x.data(), size.rows, y.data());
  return y;
}

// The same with every number rounded as it should be, in float64.
std::vector<float> rounded_product(const LayerSize& size, const std::vector<float>& weights,
                                   const std::vector<float>& bias, const std::vector<float>& x) {
  std::vector<float> y;
  for (int64_t r = 0; r < size.rows; ++r) {
    const float* const row = x.data() + r * size.inputs;
    const auto [low, high] = std::minmax_element(row, row + size.inputs);
    const float step = (*high - *low) / 255;
    for (int64_t o = 0; o < size.outputs; ++o) {
      const float* const of = weights.data() + o * size.inputs;
      float largest = 0;
      for (int64_t k = 0; k < size.inputs; ++k) largest = std::max(largest, std::abs(of[k]));
      const float scale = largest / 127;
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(o)];
      for (int64_t k = 0; k < size.inputs; ++k) {
        const double weight = scale > 0 ? std::lround(of[k] * (1 / scale)) * double{scale} : 0;
        const double input =
            *low + (step > 0 ? std::floor((row[k] - *low) * (1 / step) + 0.5F) * step : 0);
        sum += weight * input;
      }
      y.push_back(static_cast<float>(sum));
    }
  }
  return y;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, length = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    difference += std::pow(double{a[k]} - b[k], 2);
    length += std::pow(double{b[k]}, 2);
  }
  return std::sqrt(difference / std::max(length, 1e-30));
}

class Int8 : public testing::TestWithParam<const Int8Kernels*> {};

TEST_P(Int8, ProductsAreThoseOfRoundedNumbersAtEverySize) {
  unsigned seed = 1;
  for (const int64_t rows : {1, 2, 5, 6, 7, 13})
    for (const int64_t outputs : {1, 15, 16, 17, 64, 81, 130})
      for (const int64_t inputs : {1, 3, 4, 30, 128}) {
        const LayerSize size{rows, outputs, inputs};
        const auto weights = draw(outputs * inputs, seed++), bias = draw(outputs, seed++),
                   x = draw(rows * inputs, seed++);
        EXPECT_LT(distance(product(*GetParam(), size, weights, bias, x),
                           rounded_product(size, weights, bias, x)),
                  1e-5)
            << rows << " x " << outputs << " x " << inputs;
      }
}

TEST_P(Int8, RoundingCostsAHundredth) {
  const LayerSize size{24, 96, 512};
  const auto weights = draw(size.outputs * size.inputs, 1), x = draw(size.rows * size.inputs, 2);
  std::vector<float> exact;
  for (int64_t r = 0; r < size.rows; ++r)
    for (int64_t o = 0; o < size.outputs; ++o) {
      double sum = 0;
      for (int64_t k = 0; k < size.inputs; ++k)
        sum += double{x[static_cast<size_t>(r * size.inputs + k)]} *
               weights[static_cast<size_t>(o * size.inputs + k)];
      exact.push_back(static_cast<float>(sum));
    }
  const double error = distance(product(*GetParam(), size, weights, {}, x), exact);
  EXPECT_LT(error, 0.015);
  EXPECT_GT(error, 0.001);  // it is rounded
}

// The largest sums that there are: 255 times 127 everywhere.
TEST_P(Int8, SumsDoNotOverflow) {
  const LayerSize size{2, 16, 4096};
  std::vector<float> x(static_cast<size_t>(size.rows * size.inputs), 1.0F);
  x[0] = x[static_cast<size_t>(size.inputs)] = 0;
  const std::vector<float> weights(static_cast<size_t>(size.outputs * size.inputs), -2.0F);
  for (const float y : product(*GetParam(), size, weights, {}, x))
    EXPECT_NEAR(y, -2.0F * 4095, 0.01F * 4095);
}

TEST_P(Int8, RowsAndWeightsThatAreAllAlikeAreExact) {
  const LayerSize size{3, 20, 8};
  const std::vector<float> x(24, 0.5F), zeros(24, 0.0F), bias = draw(20, 1);
  std::vector<float> weights(160, 0.25F);
  std::fill_n(weights.begin(), 8, 0.0F);  // of the first output
  const auto y = product(*GetParam(), size, weights, bias, x);
  EXPECT_FLOAT_EQ(y[0], bias[0]);
  EXPECT_FLOAT_EQ(y[1], bias[1] + 1);
  EXPECT_FLOAT_EQ(product(*GetParam(), size, weights, bias, zeros)[41], bias[1]);
}

TEST_P(Int8, ARowsResultDoesNotDependOnTheOthers) {
  const LayerSize size{13, 70, 60};
  const auto weights = draw(size.outputs * size.inputs, 1), bias = draw(size.outputs, 2),
             x = draw(size.rows * size.inputs, 3);
  const auto all = product(*GetParam(), size, weights, bias, x);
  for (int64_t r = 0; r < size.rows; ++r) {
    const std::vector<float> row(x.begin() + r * size.inputs, x.begin() + (r + 1) * size.inputs);
    const auto alone = product(*GetParam(), {1, size.outputs, size.inputs}, weights, bias, row);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + r * size.outputs)) << r;
  }
}

INSTANTIATE_TEST_SUITE_P(Machine, Int8, testing::ValuesIn(available_int8_kernels()),
                         [](const auto& kernels) { return std::string(kernels.param->name); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Int8);

}  // namespace
}  // namespace tessera::kernels::cpu
