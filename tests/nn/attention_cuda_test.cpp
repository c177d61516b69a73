// Part of test_cuda.

#include "nn/attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

constexpr int64_t kWidth = 256, kHeads = 4, kRows = 6;

at::Tensor draw(at::IntArrayRef shape) {
  return at::randn(shape, at::TensorOptions(at::kCUDA)).to(at::kBFloat16);
}

// Every row sees its first key and about two thirds of the others.
at::Tensor some_visible(int64_t rows, int64_t keys) {
  const at::Tensor visible = at::rand({rows, keys}, at::TensorOptions(at::kCUDA)).gt(0.33);
  visible.select(1, 0).fill_(true);
  return visible;
}

void expect_close(const at::Tensor& a, const at::Tensor& b) {
  const double difference = (a.to(at::kFloat) - b.to(at::kFloat)).abs().max().item<double>();
  EXPECT_LT(difference, 0.02 * b.to(at::kFloat).abs().max().item<double>());
}

class CudaAttention : public testing::Test {
 protected:
  CudaAttention() {
    parameters_.allocate(at::kCUDA, Precision::bfloat16, 1);
    parameters_.values().copy_(
        0.1 * at::randn({parameters_.values().numel()}, parameters_.values().options()));
    parameters_.publish();
  }

  const c10::NoGradGuard no_grad_;
  Parameters parameters_;
  const SelfAttention self_{parameters_, "self", kWidth, kHeads};
  const CrossAttention cross_{parameters_, "cross", kWidth, kHeads};
};

TEST_F(CudaAttention, KernelsForAnyShapeGiveWhatPlannedOnesGive) {
  for (const int64_t length : {1, 4, 7, 12, 24, 33, 56, 200}) {
    SCOPED_TRACE(length);
    const at::Tensor x = draw({kRows, length, kWidth});
    for (const at::Tensor& bias :
         {key_bias(some_visible(kRows, length), at::kBFloat16), causal_bias(length, x.options())})
      expect_close(self_(x, bias, Kernels::ready).sum(), self_(x, bias, Kernels::planned).sum());
    const int64_t keys = length + 5;
    const Memory memory = cross_.memory(draw({kRows / 2, keys, kWidth}));
    const at::Tensor bias = key_bias(some_visible(kRows / 2, keys), at::kBFloat16);
    expect_close(cross_(x, memory, bias, Kernels::ready).sum(),
                 cross_(x, memory, bias, Kernels::planned).sum());
  }
}

TEST_F(CudaAttention, PositionAfterPositionSeesWhatAWholeSequenceSees) {
  constexpr int64_t kLength = 19;
  const at::Tensor x = draw({kRows, kLength, kWidth});
  const at::Tensor whole = self_(x, causal_bias(kLength, x.options()), Kernels::planned).sum();
  KeyCache cache({.rows = kRows, .layers = 1, .heads = kHeads, .width = kWidth, .room = kLength},
                 x.options());
  for (int64_t k = 0; k < kLength; ++k) {
    const at::Tensor step = self_.step(x.narrow(1, k, 1), cache, 0).sum();
    cache.advance();
    expect_close(step, whole.narrow(1, k, 1));
  }
}

}  // namespace
}  // namespace tessera::nn
