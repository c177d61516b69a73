#include "nn/adamw.h"

#include <tessera/base/error.h>

#include "support/tensors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::nn {
namespace {

at::Tensor leaf(std::vector<double> values) {
  return at::tensor(values, at::kDouble).requires_grad_();
}

// By hand, from Loshchilov and Hutter's Algorithm 2 with gradients 0.5 and -2, then 1 and -2.
TEST(AdamW, MakesTheStepsOneComputesByHand) {
  at::Tensor weight = leaf({1.0, -3.0});
  AdamW optimiser({weight}, {.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1});

  weight.mutable_grad() = at::tensor({0.5, -2.0}, at::kDouble);
  optimiser.step(0.01);
  // The first step has the size of the learning rate: 1 * (1 - 0.001) - 0.01, -3 * 0.999 + 0.01.
  EXPECT_NEAR(weight[0].item<double>(), 0.989, 1e-8);
  EXPECT_NEAR(weight[1].item<double>(), -2.987, 1e-8);

  weight.mutable_grad() = at::tensor({1.0, -2.0}, at::kDouble);
  optimiser.step(0.01);
  const double mean = (0.9 * 0.05 + 0.1 * 1.0) / (1 - 0.81);
  const double square = (0.99 * 0.0025 + 0.01 * 1.0) / (1 - 0.9801);
  EXPECT_NEAR(weight[0].item<double>(), 0.989 * 0.999 - 0.01 * mean / std::sqrt(square), 1e-7);
  EXPECT_NEAR(weight[1].item<double>(), -2.987 * 0.999 + 0.01, 1e-7);
}

TEST(AdamW, MinimisesAQuadratic) {
  const at::Tensor centre = at::tensor({1.0, -2.0, 0.5}, at::kDouble);
  const at::Tensor scale = at::tensor({1.0, 10.0, 0.1}, at::kDouble);
  at::Tensor weight = leaf({0.0, 0.0, 0.0});
  AdamW optimiser({weight}, {.weight_decay = 0});
  for (int step = 0; step < 2000; ++step) {
    optimiser.zero_grad();
    (scale * (weight - centre).square()).sum().backward();
    optimiser.step(0.02 * (1 - step / 2000.0));
  }
  EXPECT_LT(test::largest_difference(weight.detach(), centre), 1e-4);
}

TEST(AdamW, LeavesParametersWithoutAGradientAlone) {
  at::Tensor used = leaf({1.0}), unused = leaf({1.0});
  AdamW optimiser({used, unused});
  used.square().sum().backward();
  optimiser.step(0.1);
  EXPECT_LT(used.item<double>(), 1.0);
  EXPECT_EQ(unused.item<double>(), 1.0);
  optimiser.zero_grad();
  EXPECT_FALSE(used.grad().defined());
  optimiser.step(0.1);
  EXPECT_NEAR(used.item<double>(), 0.899, 1e-8);
}

TEST(AdamW, RefusesWhatItCannotUpdate) {
  EXPECT_THROW(AdamW({at::zeros({2})}), Error);
  EXPECT_THROW(AdamW({leaf({1.0})}, {.beta1 = 1.0}), UsageError);
}

}  // namespace
}  // namespace tessera::nn
