#include "seq2seq/autoregressive.h"

#include "nn/adamw.h"
#include "seq2seq/tiny_model.h"
#include "support/tensors.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::seq2seq {
namespace {

using text::Dictionary;

constexpr int64_t p = Dictionary::kPad, e = Dictionary::kEos;

TEST(Autoregressive, StepByStepItGivesTheProbabilitiesOfTheWhole) {
  const c10::NoGradGuard no_grad;
  const Autoregressive model = test::tiny_autoregressive();
  const Seq2SeqBatch batch = test::tiny_batch();
  const Encoded encoded = model.encode(batch.source);
  const at::Tensor whole = model.log_probabilities(encoded, batch.target);
  auto state = model.start(2, 4);
  at::Tensor last = at::full({2}, int64_t{Dictionary::kBos}, at::kLong);
  for (int64_t k = 0; k < 4; ++k) {
    const at::Tensor next = at::log_softmax(model.next_scores(state, last, encoded), -1);
    last = batch.target.select(1, k);
    const at::Tensor own = next.gather(1, last.unsqueeze(1)).squeeze(1);
    const at::Tensor expected = at::where(last.ne(p), own, 0);
    EXPECT_LT(test::largest_difference(whole.select(1, k), expected), 1e-5) << k;
    // Padding, begin and unknown are never written.
    for (const int64_t symbol : model.undecodable())
      EXPECT_TRUE(next.select(1, symbol).isinf().all().item<bool>());
  }
}

TEST(Autoregressive, NoSymbolDependsOnLaterOnes) {
  const c10::NoGradGuard no_grad;
  const Autoregressive model = test::tiny_autoregressive();
  const Seq2SeqBatch batch = test::tiny_batch();
  const Encoded encoded = model.encode(batch.source);
  at::Tensor other = batch.target.clone();
  other.select(1, 2).fill_(20);
  const at::Tensor a = model.log_probabilities(encoded, batch.target);
  const at::Tensor b = model.log_probabilities(encoded, other);
  EXPECT_LT(test::largest_difference(a.narrow(1, 0, 2), b.narrow(1, 0, 2)), 1e-6);
  EXPECT_GT(test::largest_difference(a.narrow(1, 2, 1), b.narrow(1, 2, 1)), 1e-3);
}

TEST(Autoregressive, LossDoesNotDependOnPaddingOrEmptyRows) {
  const c10::NoGradGuard no_grad;
  Autoregressive model = test::tiny_autoregressive();
  const Seq2SeqBatch batch = test::tiny_batch();
  const auto pad = [](const at::Tensor& ids) { return at::constant_pad_nd(ids, {0, 2, 0, 1}, p); };
  const auto plain = model.loss(batch, {}, /*variant=*/0, nn::Mode::inference);
  const auto padded =
      model.loss({pad(batch.source), pad(batch.target)}, {}, /*variant=*/0, nn::Mode::inference);
  EXPECT_NEAR(plain.total.item<double>(), padded.total.item<double>(), 1e-5);
}

TEST(Autoregressive, LearnsASmallBatch) {
  Autoregressive model = test::tiny_autoregressive();
  const Seq2SeqBatch batch = test::tiny_batch();
  at::Tensor values = model.parameters().values().detach().requires_grad_();
  values.mutable_grad() = model.parameters().gradients();
  nn::AdamW adamw({values}, {.weight_decay = 0});
  for (int step = 0; step < 150; ++step) {
    model.loss(batch, {}, /*variant=*/0, nn::Mode::inference).total.backward();
    model.parameters().gather_gradients();
    adamw.step(1e-2);
    model.parameters().zero_gradients();
  }
  model.refresh();
  const c10::NoGradGuard no_grad;
  const at::Tensor found = model.log_probabilities(model.encode(batch.source), batch.target);
  EXPECT_GT(found.min().item<double>(), -0.1);
}

}  // namespace
}  // namespace tessera::seq2seq
