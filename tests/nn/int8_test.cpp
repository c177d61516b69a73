#include "nn/int8.h"
#include "nn/transformer.h"
#include "support/tensors.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

using test::normal;

struct Int8Case {
  const char* name;
  TransformerOptions options;
};

TransformerOptions options_of(int64_t width, int64_t heads, NormPlace norm, Activation activation) {
  return {.width = width,
          .feedforward = 2 * width + 12,
          .heads = heads,
          .layers = 3,
          .norm = norm,
          .activation = activation};
}

// An encoder and a decoder with random weights, the same in every precision.
struct Int8Pair {
  Int8Pair(const TransformerOptions& options, Precision precision)
      : width(options.width),
        encoder(parameters, "encoder", Transformer::Kind::encoder, options),
        decoder(parameters, "decoder", Transformer::Kind::decoder, options) {
    parameters.allocate(at::kCPU, precision, 5);
    if (precision != Precision::int8) return;
    encoder.use_int8();
    decoder.use_int8();
  }

  // Three candidates of every source.   source [B, S, width], target [B * 3, L, width]
  at::Tensor operator()(const at::Tensor& source, const at::Tensor& source_visible,
                        const at::Tensor& target, const at::Tensor& target_visible) const {
    const c10::NoGradGuard no_grad;
    const at::Tensor memory_bias = key_bias(source_visible, at::kFloat);
    const at::Tensor states = encoder(source, memory_bias, {}, {}, Mode::inference);
    return decoder(target, key_bias(target_visible, at::kFloat), decoder.memories(states),
                   memory_bias, Mode::inference);
  }

  int64_t width;
  Parameters parameters;
  Transformer encoder, decoder;
};

// [B, length] bool: row k has `first` + k positions.
at::Tensor first_positions(int64_t rows, int64_t length, int64_t first) {
  return at::arange(length).unsqueeze(0).lt((at::arange(rows) + first).unsqueeze(1));
}

double relative_error(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

class Int8Transformers : public testing::TestWithParam<Int8Case> {
 protected:
  void SetUp() override {
    if (!has_int8_kernels()) GTEST_SKIP() << "this CPU has no kernels for 8 bits";
  }
};

TEST_P(Int8Transformers, ComputeWhatFloat32DoesWithinRounding) {
  const TransformerOptions& options = GetParam().options;
  const Int8Pair exact(options, Precision::float32), rounded(options, Precision::int8);
  const at::Tensor source = normal({2, 7, options.width}, 1),
                   target = normal({6, 5, options.width}, 2);
  const at::Tensor source_visible = first_positions(2, 7, 6),
                   target_visible = first_positions(6, 5, 1);
  const at::Tensor mask = target_visible.unsqueeze(-1);
  const at::Tensor expected = exact(source, source_visible, target, target_visible) * mask;
  const at::Tensor got = rounded(source, source_visible, target, target_visible) * mask;
  EXPECT_LT(relative_error(got, expected), 0.03);
  EXPECT_GT(relative_error(got, expected), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Int8Transformers,
    testing::Values(Int8Case{"sum", options_of(128, 2, NormPlace::post, Activation::relu)},
                    Int8Case{"wide_heads", options_of(256, 2, NormPlace::post, Activation::relu)},
                    Int8Case{"odd_heads", options_of(72, 3, NormPlace::post, Activation::gelu)},
                    Int8Case{"norm_first", options_of(128, 2, NormPlace::pre, Activation::gelu)}),
    [](const auto& one) { return one.param.name; });

class Int8Rows : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_int8_kernels()) GTEST_SKIP() << "this CPU has no kernels for 8 bits";
  }
  const Int8Pair stack_{options_of(64, 1, NormPlace::post, Activation::relu), Precision::int8};
  const at::Tensor source_ = normal({4, 9, 64}, 1), target_ = normal({12, 11, 64}, 2);
  const at::Tensor source_visible_ = first_positions(4, 9, 3),
                   target_visible_ = first_positions(12, 11, 1);
};

TEST_F(Int8Rows, DoNotDependOnTheBatchNorOnPadding) {
  const at::Tensor all = stack_(source_, source_visible_, target_, target_visible_);
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t longest = 3 * k + 3;
    const auto rows = [&](const at::Tensor& of) { return of.narrow(0, 3 * k, 3); };
    const at::Tensor alone =
        stack_(source_.narrow(0, k, 1).narrow(1, 0, 3 + k),
               source_visible_.narrow(0, k, 1).narrow(1, 0, 3 + k),
               rows(target_).narrow(1, 0, std::min<int64_t>(longest, 11)),
               rows(target_visible_).narrow(1, 0, std::min<int64_t>(longest, 11)));
    EXPECT_TRUE(at::equal(alone, rows(all).narrow(1, 0, alone.size(1)))) << k;
  }
}

TEST_F(Int8Rows, StayAsTheyAreAtPadding) {
  const at::Tensor all = stack_(source_, source_visible_, target_, target_visible_);
  const at::Tensor padding = target_visible_.logical_not().unsqueeze(-1);
  EXPECT_TRUE(at::equal(all.masked_select(padding), target_.masked_select(padding)));
}

// A source and a target that are read as one sequence: padding between them.
TEST_F(Int8Rows, SkipPaddingInTheMiddle) {
  const c10::NoGradGuard no_grad;
  const at::Tensor x = normal({1, 6, 64}, 3);
  const at::Tensor gap = at::tensor({1, 1, 0, 0, 1, 1}).view({1, 6}).to(at::kBool);
  const auto run = [&](const at::Tensor& states, const at::Tensor& visible) {
    return stack_.encoder(states, key_bias(visible, at::kFloat), {}, {}, Mode::inference);
  };
  const at::Tensor places = at::tensor({0, 1, 4, 5});
  const at::Tensor close = x.index_select(1, places);
  EXPECT_TRUE(
      at::equal(run(x, gap).index_select(1, places), run(close, at::ones({1, 4}, at::kBool))));
}

TEST_F(Int8Rows, AreTheSameWithOneThreadAndWithTwo) {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = stack_(source_, source_visible_, target_, target_visible_);
  at::set_num_threads(2);
  const at::Tensor two = stack_(source_, source_visible_, target_, target_visible_);
  at::set_num_threads(threads);
  EXPECT_TRUE(at::equal(one, two));
}

}  // namespace
}  // namespace tessera::nn
