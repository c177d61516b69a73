// Part of test_cuda.

#include "nn/residual_norm.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

at::Tensor normals(at::IntArrayRef shape) {
  return at::randn(shape, at::TensorOptions(at::kCUDA)).to(at::kBFloat16);
}

void seed_generator() {
  at::Generator generator = at::globalContext().defaultGenerator(at::kCUDA);
  generator.set_current_seed(5);
}

// A norm with its own weights, in the precision of training on a GPU.
struct Norm {
  explicit Norm(int64_t width) : norm(parameters, "norm", width) {
    parameters.allocate(at::kCUDA, Precision::bfloat16, 1);
    parameters.values().copy_(at::randn({2 * width}, parameters.values().options()));
    parameters.publish();
  }
  Parameters parameters;
  LayerNorm norm;
};

TEST(CudaResidualNorm, KernelsGiveWhatLibTorchGives) {
  for (const int64_t width : {8, 96, 256, 512, 1000, 1024})
    for (const bool with_bias : {false, true})
      for (const double share : {0.0, 0.3}) {
        SCOPED_TRACE(testing::Message() << width << (with_bias ? " with a bias, " : ", ") << share);
        Norm own(width);
        const at::Tensor x = normals({7, 311, width}) + 3, y = normals(x.sizes()),
                         bias = normals({width}), weights = normals(x.sizes());
        seed_generator();
        const at::Tensor kept =
            at::empty(x.sizes(), x.options().dtype(at::kBool)).bernoulli_(1 - share);

        std::vector<at::Tensor> inputs{x, y, bias};
        const auto leaves = [&](at::ScalarType type) {
          std::vector<at::Tensor> result;
          for (const at::Tensor& input : inputs)
            result.push_back(input.to(type).detach().requires_grad_());
          return result;
        };
        // The first input is used again, so that its gradient has two parts.
        const auto results = [&](const at::Tensor& z, const std::vector<at::Tensor>& of,
                                 const auto& norm_gradients) {
          (z * weights + of[0]).sum().backward();
          std::vector<at::Tensor> all{z.detach(), of[0].grad(), of[1].grad(), norm_gradients()};
          if (with_bias) all.push_back(of[2].grad());
          for (at::Tensor& one : all) one = one.to(at::kFloat);
          return all;
        };
        const std::vector<at::Tensor> fused_leaves = leaves(at::kBFloat16);
        seed_generator();
        const auto fused =
            results(residual_norm(fused_leaves[0],
                                  {fused_leaves[1], with_bias ? fused_leaves[2] : at::Tensor()},
                                  own.norm, share, Mode::training),
                    fused_leaves, [&] {
                      own.parameters.gather_gradients();
                      own.parameters.collect_gradients();
                      return own.parameters.gradients();
                    });

        const std::vector<at::Tensor> exact = leaves(at::kFloat);
        const auto weight = [](const Weight& w) {
          return w->detach().to(at::kFloat).requires_grad_();
        };
        const at::Tensor scale = weight(own.norm.scale), shift = weight(own.norm.shift);
        const at::Tensor part = (with_bias ? exact[1] + exact[2] : exact[1]) * kept / (1 - share);
        const auto composed =
            results(at::layer_norm(exact[0] + part, {width}, scale, shift), exact, [&] {
              return at::cat({scale.grad(), shift.grad()});
            });
        ASSERT_EQ(fused.size(), composed.size());
        for (size_t i = 0; i < fused.size(); ++i)
          EXPECT_LT(((fused[i] - composed[i]).abs().max() / composed[i].abs().max()).item<double>(),
                    0.02)
              << i;
      }
}

TEST(CudaResidualNorm, IsTheSameWithoutGradients) {
  Norm own(512);
  const at::Tensor x = normals({3, 17, 512}), y = normals(x.sizes()), bias = normals({512});
  const auto run = [&] { return residual_norm(x, {y, bias}, own.norm, 0.3, Mode::inference); };
  const at::Tensor with = run().detach();
  const c10::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(run(), with));
}

}  // namespace
}  // namespace tessera::nn
