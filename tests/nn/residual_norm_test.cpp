#include "nn/residual_norm.h"

#include "support/tensors.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

using test::normal;

struct ResidualNormTest : testing::Test {
  ResidualNormTest() { parameters.allocate(at::kCPU, Precision::float32, 1); }
  Parameters parameters;
  LayerNorm norm{parameters, "norm", 16};
  at::Tensor x = normal({2, 3, 16}, 1), y = normal({2, 3, 16}, 2), bias = normal({16}, 3);
};

TEST_F(ResidualNormTest, NormalisesTheSum) {
  const at::Tensor expected = at::layer_norm(x + y + bias, {16});
  EXPECT_LT(
      test::largest_difference(residual_norm(x, {y, bias}, norm, 0.5, Mode::inference), expected),
      1e-5);
  EXPECT_LT(
      test::largest_difference(residual_norm(x, {y + bias, {}}, norm, 0, Mode::training), expected),
      1e-5);
}

TEST_F(ResidualNormTest, DropsOfThePartAlone) {
  const at::Tensor all = residual_norm(x, {y, bias}, norm, 1 - 1e-9, Mode::training);
  EXPECT_LT(test::largest_difference(all, at::layer_norm(x, {16})), 1e-5);
}

TEST_F(ResidualNormTest, RefusesOtherShapes) {
  EXPECT_THROW(residual_norm(x, {y[0], {}}, norm, 0, Mode::training), Error);
}

}  // namespace
}  // namespace tessera::nn
