#include "nn/mlp.h"

#include <tessera/base/error.h>

#include "support/tensors.h"

#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

const StreamId kStream{5, Purpose::initial_weights, 0};

TEST(Mlp, MapsTheLastDimension) {
  const Mlp mlp({3, 8, 2}, kStream, at::kCPU);
  EXPECT_EQ(mlp.forward(at::zeros({4, 5, 3})).sizes(), (std::vector<int64_t>{4, 5, 2}));
  EXPECT_EQ(mlp.parameters().size(), 4u);
  EXPECT_EQ(mlp.parameters()[0].sizes(), (std::vector<int64_t>{8, 3}));
  for (const at::Tensor& parameter : mlp.parameters()) EXPECT_TRUE(parameter.requires_grad());
}

TEST(Mlp, DependsOnTheSeedOnly) {
  const at::Tensor x = test::normal({6, 3}, 1);
  const at::Tensor once = Mlp({3, 8, 2}, kStream, at::kCPU).forward(x);
  EXPECT_TRUE(once.equal(Mlp({3, 8, 2}, kStream, at::kCPU).forward(x)));
  const StreamId other{6, Purpose::initial_weights, 0};
  EXPECT_FALSE(once.equal(Mlp({3, 8, 2}, other, at::kCPU).forward(x)));
}

TEST(Mlp, KeepsTheScaleOfItsInput) {
  const Mlp mlp({256, 1024}, kStream, at::kCPU);
  EXPECT_NEAR(mlp.forward(test::normal({64, 256}, 2)).std().item<double>(), 1.0, 0.05);
}

TEST(Mlp, GradientsAgreeWithFiniteDifferences) {
  const Mlp mlp({3, 5, 4, 2}, kStream, at::kCPU, at::kDouble);
  const at::Tensor x = test::normal({4, 3}, 3, at::kDouble);
  const auto loss = [&](const at::Tensor& input) { return mlp.forward(input).square().sum(); };
  EXPECT_LT(test::gradient_error(loss, x), 1e-7);

  for (at::Tensor parameter : mlp.parameters()) parameter.mutable_grad().reset();
  loss(x).backward();
  double worst = 0;
  for (at::Tensor parameter : mlp.parameters()) {
    const at::Tensor gradient = parameter.grad().reshape({-1});
    for (int64_t i = 0; i < parameter.numel(); ++i) {
      const auto moved = [&](double offset) {
        const at::Tensor element = parameter.detach().view({-1}).select(0, i);
        element.add_(offset);
        const double value = loss(x).item<double>();
        element.sub_(offset);
        return value;
      };
      const double slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      worst = std::max(worst, std::abs(slope - gradient[i].item<double>()));
    }
  }
  EXPECT_LT(worst, 1e-7);
}

TEST(Mlp, RefusesSizesThatMakeNoNetwork) {
  EXPECT_THROW(Mlp({3}, kStream, at::kCPU), Error);
  EXPECT_THROW(Mlp({3, 0, 2}, kStream, at::kCPU), Error);
}

}  // namespace
}  // namespace tessera::nn
