#include "nn/transformer.h"

#include "support/tensors.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::nn {
namespace {

using test::normal;

// Softmax attention written out, one head.
at::Tensor naive(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                 const at::Tensor& visible) {
  at::Tensor scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(-1)));
  scores = scores.masked_fill(visible.logical_not().unsqueeze(1), -1e9);
  return scores.softmax(-1).matmul(v);
}

TEST(Attention, IsSoftmaxAttentionPerHead) {
  const c10::NoGradGuard no_grad;
  Parameters parameters;
  const CrossAttention attention(parameters, "a", 8, 2);
  parameters.allocate(at::kCPU, Precision::float32, 1);
  parameters.values().copy_(normal({parameters.values().numel()}, 0));
  const auto weights = parameters.named(parameters.values());

  const at::Tensor x = normal({3, 5, 8}, 1), m = normal({3, 4, 8}, 2);
  const at::Tensor visible =
      at::tensor({1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0}).view({3, 4}).to(at::kBool);
  const at::Tensor q = at::linear(x, weights.at("a.queries.weight"), weights.at("a.queries.bias"));
  const auto kv =
      at::linear(m, weights.at("a.memory.weight"), weights.at("a.memory.bias")).chunk(2, -1);
  std::vector<at::Tensor> heads;
  for (int64_t h = 0; h < 2; ++h) {
    const auto part = [&](const at::Tensor& y) { return y.narrow(-1, 4 * h, 4); };
    heads.push_back(naive(part(q), part(kv[0]), part(kv[1]), visible));
  }
  const at::Tensor expected =
      at::linear(at::cat(heads, -1), weights.at("a.out.weight"), weights.at("a.out.bias"));
  const at::Tensor got =
      attention(x, attention.memory(m), key_bias(visible, at::kFloat), Kernels::ready).sum();
  EXPECT_LT(test::largest_difference(got, expected), 1e-4);
}

TEST(Attention, LetsGroupsOfQueriesShareAMemory) {
  const c10::NoGradGuard no_grad;
  Parameters parameters;
  const CrossAttention attention(parameters, "a", 8, 2);
  parameters.allocate(at::kCPU, Precision::float32, 1);
  parameters.values().copy_(normal({parameters.values().numel()}, 0));
  const at::Tensor x = normal({6, 5, 8}, 1), m = normal({2, 4, 8}, 2);
  const at::Tensor visible = at::tensor({1, 1, 1, 0, 1, 1, 1, 1}).view({2, 4}).to(at::kBool);
  const at::Tensor shared =
      attention(x, attention.memory(m), key_bias(visible, at::kFloat), Kernels::ready).sum();
  const at::Tensor repeated =
      attention(x, attention.memory(m.repeat_interleave(3, 0)),
                key_bias(visible.repeat_interleave(3, 0), at::kFloat), Kernels::ready)
          .sum();
  EXPECT_LT(test::largest_difference(shared, repeated), 1e-6);
}

TEST(Attention, NeedsHeadsThatDivideTheWidth) {
  Parameters parameters;
  EXPECT_THROW(SelfAttention(parameters, "a", 10, 4), UsageError);
}

struct Stack {
  explicit Stack(const TransformerOptions& options)
      : encoder(parameters, "encoder", Transformer::Kind::encoder, options),
        decoder(parameters, "decoder", Transformer::Kind::decoder, options) {
    parameters.allocate(at::kCPU, Precision::float32, 5);
  }
  at::Tensor operator()(const at::Tensor& source, const at::Tensor& target,
                        const at::Tensor& visible, Mode mode = Mode::inference) const {
    const at::Tensor bias = key_bias(visible, at::kFloat);
    const at::Tensor all =
        key_bias(at::ones({target.size(0), target.size(1)}, at::kBool), at::kFloat);
    const at::Tensor encoded = encoder(source, bias, {}, {}, mode);
    return decoder(target, all, decoder.memories(encoded), bias, mode);
  }
  Parameters parameters;
  Transformer encoder, decoder;
};

TransformerOptions small(NormPlace norm) {
  return {.width = 8,
          .feedforward = 12,
          .heads = 2,
          .layers = 2,
          .dropout = 0.2,
          .norm = norm,
          .activation = Activation::gelu};
}

TEST(Transformer, DoesNotSeePadding) {
  const c10::NoGradGuard no_grad;
  for (const NormPlace norm : {NormPlace::post, NormPlace::pre}) {
    const Stack stack(small(norm));
    const at::Tensor target = normal({2, 3, 8}, 1), source = normal({2, 4, 8}, 2);
    const at::Tensor padded = at::cat({source, 100 * normal({2, 2, 8}, 3)}, 1);
    const at::Tensor visible =
        at::tensor({1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0}).view({2, 6}).to(at::kBool);
    const at::Tensor plain = stack(source, target, at::ones({2, 4}, at::kBool));
    EXPECT_LT(test::largest_difference(plain, stack(padded, target, visible)), 1e-5);
  }
}

TEST(Transformer, StepByStepItGivesWhatItGivesAtOnce) {
  const c10::NoGradGuard no_grad;
  for (const NormPlace norm : {NormPlace::post, NormPlace::pre}) {
    const Stack stack(small(norm));
    const at::Tensor target = normal({4, 5, 8}, 1), source = normal({2, 3, 8}, 2);
    const at::Tensor bias = key_bias(at::ones({2, 3}, at::kBool), at::kFloat);
    const auto memories =
        stack.decoder.memories(stack.encoder(source, bias, {}, {}, Mode::inference));
    const at::Tensor whole =
        stack.decoder(target, causal_bias(5, target.options()), memories, bias, Mode::inference);
    KeyCache cache = stack.decoder.cache(4, 6);
    // The rows are reordered after three steps.
    const at::Tensor order = at::tensor(std::vector<int64_t>{1, 0, 2, 2});
    const at::Tensor moved = target.index_select(0, order);
    for (int64_t k = 0; k < 5; ++k) {
      if (k == 3) cache.select(order);
      const at::Tensor& rows = k < 3 ? target : moved;
      const at::Tensor step = stack.decoder.step(rows.narrow(1, k, 1), cache, memories, bias);
      const at::Tensor expected = k < 3 ? whole : whole.index_select(0, order);
      EXPECT_LT(test::largest_difference(step, expected.narrow(1, k, 1)), 1e-5) << k;
    }
  }
}

TEST(Transformer, DropsInTrainingOnly) {
  const c10::NoGradGuard no_grad;
  const Stack stack(small(NormPlace::post));
  const at::Tensor target = normal({2, 3, 8}, 1), source = normal({2, 4, 8}, 2);
  const at::Tensor visible = at::ones({2, 4}, at::kBool);
  EXPECT_TRUE(at::equal(stack(source, target, visible), stack(source, target, visible)));
  EXPECT_FALSE(at::equal(stack(source, target, visible, Mode::training),
                         stack(source, target, visible, Mode::training)));
}

TEST(Transformer, HasTheGradientOfItsDifferences) {
  Stack stack(small(NormPlace::post));
  stack.parameters.values().copy_(0.3 * normal({stack.parameters.values().numel()}, 9));
  const at::Tensor target = normal({2, 3, 8}, 1), source = normal({2, 4, 8}, 2);
  const at::Tensor visible = at::ones({2, 4}, at::kBool), weight = normal({2, 3, 8}, 4);
  const auto loss = [&] { return (stack(source, target, visible) * weight).sum(); };
  loss().backward();
  stack.parameters.gather_gradients();
  const at::Tensor direction = normal({stack.parameters.values().numel()}, 10);
  const double slope = stack.parameters.gradients().dot(direction).item<double>();
  const c10::NoGradGuard no_grad;
  constexpr double kStep = 1e-3;
  const at::Tensor values = stack.parameters.values();
  values.add_(direction, kStep);
  const double above = loss().item<double>();
  values.sub_(direction, 2 * kStep);
  const double below = loss().item<double>();
  EXPECT_NEAR(slope, (above - below) / (2 * kStep), 0.02 * std::abs(slope) + 0.05);
}

}  // namespace
}  // namespace tessera::nn
