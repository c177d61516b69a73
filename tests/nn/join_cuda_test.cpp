// Part of test_cuda.

#include "nn/join.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

TEST(CudaJoin, KernelsGiveWhatLibTorchGives) {
  for (const int64_t channels : {8, 24, 128, 2048})
    for (const bool with_bias : {false, true}) {
      SCOPED_TRACE(testing::Message() << channels << (with_bias ? " with a bias" : ""));
      const auto draw = [](at::IntArrayRef shape) {
        return at::randn(shape, at::TensorOptions(at::kCUDA)).to(at::kBFloat16);
      };
      const at::Tensor a = draw({3, 9, 11, channels}), b = draw(a.sizes()), bias = draw({channels}),
                       weights = draw(a.sizes());
      // Value and gradients, in the precision of the inputs.
      const auto run = [&](at::ScalarType type) {
        std::vector<at::Tensor> inputs{a, b};
        if (with_bias) inputs.push_back(bias);
        for (at::Tensor& input : inputs) input = input.to(type).detach().requires_grad_();
        const at::Tensor y = joined(inputs[0], inputs[1], with_bias ? inputs[2] : at::Tensor());
        // The first input is used again, so that its gradient has two parts.
        (y * weights + inputs[0]).sum().backward();
        std::vector<at::Tensor> results{y.detach().to(at::kFloat)};
        for (const at::Tensor& input : inputs) results.push_back(input.grad().to(at::kFloat));
        return results;
      };
      const auto fused = run(at::kBFloat16), composed = run(at::kFloat);
      for (size_t i = 0; i < fused.size(); ++i)
        EXPECT_LT(((fused[i] - composed[i]).abs().max() / composed[i].abs().max()).item<double>(),
                  0.01)
            << i;
    }
}

}  // namespace
}  // namespace tessera::nn
