#include "nn/group_norm.h"

#include "support/older_gpu.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace tessera::nn {
namespace {

struct Case {
  int64_t side, channels;
  bool film = false, offset = false;
  After after = After::silu;
  double middle = 1;  // mean of the pictures; their deviation is 2
};

struct Result {
  at::Tensor y, dx, d_film, d_offset, d_weights;
};

// Computes a case with the same numbers on any device. On CUDA, the fused kernels do bfloat16.
//   shift   is added to all values, which does not change the results
Result run(at::Device device, Precision precision, const Case& what, double shift) {
  const int64_t channels = what.channels;
  Parameters parameters;
  const GroupNorm norm(parameters, "norm", channels);
  parameters.allocate(device, precision, 1);
  at::manual_seed(1);
  // Numbers that bfloat16 can represent, so that both devices start with the same.
  const auto draw = [](at::IntArrayRef shape, double scale, double middle = 0) {
    return (at::randn(shape) * scale + middle).to(at::kBFloat16).to(at::kFloat);
  };
  parameters.values().copy_(draw({2 * channels}, 0.3, 1));
  parameters.publish();
  const at::Tensor x = (draw({5, what.side, what.side, channels}, 2, what.middle) + shift)
                           .to(device)
                           .requires_grad_();
  const at::Tensor film = draw({5, 2 * channels}, 0.3).to(device).requires_grad_();
  const at::Tensor offset = draw({channels}, 1).to(device).requires_grad_();
  const at::Tensor weights = draw(x.sizes(), 1).to(device);
  const auto typed = [&](const at::Tensor& tensor) {
    return precision == Precision::bfloat16 ? tensor.to(at::kBFloat16) : tensor;
  };
  const at::Tensor none;
  const at::Tensor y =
      norm(x, what.after, what.film ? typed(film) : none, what.offset ? typed(offset) : none);
  (y.to(at::kFloat) * weights).sum().backward();
  parameters.gather_gradients();
  parameters.collect_gradients();
  const auto host = [](const at::Tensor& tensor) { return tensor.to(at::kCPU, at::kFloat); };
  const auto gradient = [&](const at::Tensor& tensor) {
    return tensor.grad().defined() ? host(tensor.grad()) : at::zeros({1});
  };
  return {host(y.detach()), host(x.grad()), gradient(film), gradient(offset),
          host(parameters.gradients())};
}

// Largest difference of two tensors, relative to the largest value.
double difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-6)).item<double>();
}

void expect_the_same(const Case& what) {
  SCOPED_TRACE(testing::Message() << what.side << " x " << what.side << ", " << what.channels
                                  << (what.film ? ", film" : "") << (what.offset ? ", offset" : "")
                                  << (what.after == After::silu ? ", silu" : ""));
  const Result cuda = run(at::kCUDA, Precision::bfloat16, what, 0);
  const Result cpu = run(at::kCPU, Precision::float32, what, -what.middle);
  EXPECT_LT(difference(cuda.y, cpu.y), 0.01);
  EXPECT_LT(difference(cuda.dx, cpu.dx), 0.02);
  EXPECT_LT(difference(cuda.d_film, cpu.d_film), 0.02);
  EXPECT_LT(difference(cuda.d_offset, cpu.d_offset), 0.02);
  EXPECT_LT(difference(cuda.d_weights, cpu.d_weights), 0.02);
}

TEST(CudaGroupNorm, KernelsGiveWhatTheCpuGives) {
  // The largest pictures are shared by several blocks.
  for (const int64_t side : {1, 7, 16, 33})
    for (const int64_t channels : {8, 24, 128, 256, 384, 2048})
      for (const bool film : {false, true})
        for (const bool offset : {false, true}) expect_the_same({side, channels, film, offset});
  expect_the_same({.side = 16, .channels = 128, .after = After::nothing});
}

TEST(CudaGroupNorm, OlderGpusComputeItWithOperationsOfLibTorch) {
  const test::OlderGpu older;
  for (const bool film : {false, true})
    for (const bool offset : {false, true}) expect_the_same({16, 128, film, offset});
}

TEST(CudaGroupNorm, ValuesFarFromZeroLoseNoDigits) {
  expect_the_same({.side = 32, .channels = 128, .offset = true, .middle = 200});
}

// A kernel has a single limit of shared memory, and wide layers need more than narrow ones.
TEST(CudaGroupNorm, WideAndNarrowLayersInTwoThreadsGiveWhatEachGivesAlone) {
  const auto compute = [](int64_t channels) {
    const c10::NoGradGuard no_grad;
    Parameters parameters;
    const GroupNorm norm(parameters, "norm", channels);
    parameters.allocate(at::kCUDA, Precision::bfloat16, 1);
    parameters.values().fill_(0.5);
    parameters.publish();
    const at::Tensor numbers = at::arange(5 * 33 * 33 * channels).remainder(1009);
    const at::Tensor x = numbers.to(at::kCUDA, at::kFloat).view({5, 33, 33, channels}).sub(500);
    return norm(x, After::silu, {}, {}).to(at::kCPU, at::kFloat);
  };
  const std::vector<int64_t> widths = {832, 2048};
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (const int64_t width : widths)
    threads.emplace_back([&, width, alone = compute(width)] {
      for (int round = 0; round < 20; ++round) {
        try {
          wrong += !at::equal(compute(width), alone);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera::nn
