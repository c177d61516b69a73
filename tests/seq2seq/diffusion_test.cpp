#include "seq2seq/diffusion.h"

#include "nn/adamw.h"
#include "support/tensors.h"
#include "text/dictionary.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::seq2seq {
namespace {

using text::Dictionary;

Seq2SeqOptions small_options() {
  Seq2SeqOptions options;
  options.network.latent = 8;
  options.network.transformer = {
      .width = 16, .feedforward = 32, .heads = 2, .layers = 1, .dropout = 0.0};
  options.network.positions = 12;
  options.process.trajectory.kind = TrajectoryKind::ot;
  return options;
}

Diffusion small_model(const Seq2SeqOptions& options = small_options()) {
  return Diffusion(options, 12, {Dictionary::kBos, Dictionary::kPad, Dictionary::kUnk}, at::kCPU,
                   nn::Precision::float32, 1);
}

TrainingStreams streams(uint64_t step) {
  return {{1, Purpose::training_noise, step}, {1, Purpose::training_time, step}};
}

Draws small_draws(const Diffusion& model, int64_t rows, int64_t length) {
  return model.draw(streams(0), rows, length);
}

// The variants of a loss.
constexpr int64_t kPlain = 0, kSelfConditioned = 1;

// The sizes of the recipes, against the counts of Difformer's configurations.
TEST(Diffusion, HasTheSizeOfItsClass) {
  const auto count = [](int64_t symbols, int64_t feedforward, int64_t heads) {
    Seq2SeqOptions options;
    options.network.transformer.feedforward = feedforward;
    options.network.transformer.heads = heads;
    const Diffusion model(options, symbols, {}, at::kCPU, nn::Precision::float32, 1);
    return static_cast<double>(model.parameters().count()) / 1e6;
  };
  EXPECT_NEAR(count(10152, 1024, 4), 37, 0.6);
  EXPECT_NEAR(count(42000, 2048, 8), 54, 1);
}

TEST(Diffusion, LossDoesNotDependOnPaddingOrEmptyRows) {
  const c10::NoGradGuard no_grad;
  Diffusion model = small_model();
  const Seq2SeqBatch batch = test::tiny_batch();
  const auto pad = [](const at::Tensor& ids) {
    return at::constant_pad_nd(ids, {0, 2, 0, 1}, Dictionary::kPad);
  };
  const Draws wide = small_draws(model, 3, 6);
  const Draws narrow{wide[0].narrow(0, 0, 2), wide[1].narrow(0, 0, 2).narrow(1, 0, 4)};
  const auto plain = model.loss(batch, narrow, kSelfConditioned, nn::Mode::inference);
  const auto padded = model.loss({pad(batch.source), pad(batch.target)}, wide, kSelfConditioned,
                                 nn::Mode::inference);
  EXPECT_NEAR(plain.total.item<double>(), padded.total.item<double>(), 1e-5);
  EXPECT_LT(test::largest_difference(plain.measures, padded.measures), 1e-5);
}

double measure(const Diffusion& model, const nn::TrainingLoss& loss, std::string_view name) {
  const auto names = model.measures();
  const auto place = std::find(names.begin(), names.end(), name) - names.begin();
  return loss.measures[place].item<double>();
}

TEST(Diffusion, TellsTheNetworkTimeNotItsRescaling) {
  const c10::NoGradGuard no_grad;
  Diffusion model = small_model();
  const Seq2SeqBatch batch = test::tiny_batch();
  const Process& process = *model.family()->process();
  const at::Tensor t = at::tensor({200.0f, 900.0f}), eps = small_draws(model, 2, 4)[1];
  const auto loss = model.loss(batch, {t, eps}, kPlain, nn::Mode::inference);

  const at::Tensor x0 = model.codebook().encode(batch.target);
  const Noised noised = process.noise(model.codebook(), x0, batch.target, eps, t);
  const Encoded encoded = model.encode(batch.source, nn::Mode::inference);
  const Denoiser network = model.denoiser(encoded, visible_keys(batch.target));
  const auto error_if_told = [&](const at::Tensor& time) {
    return objective(process, model.codebook(), noised, network(noised.x, time, at::zeros_like(x0)),
                     x0, batch.target, batch.target.ne(Dictionary::kPad), model.options().objective)
        .mse.item<double>();
  };
  const double error = measure(model, loss, "mse");
  EXPECT_NEAR(error, error_if_told(t), 1e-6);
  EXPECT_GT(noised.tau.mean().item<double>(), t.mean().item<double>());
  EXPECT_GT(std::abs(error - error_if_told(noised.tau.amax(1))), 1e-4);
  EXPECT_EQ(measure(model, loss, "outside"), 0);
}

TEST(Diffusion, TheEncoderLearnsFromLengthsUnlessToldNotTo) {
  const auto gradient = [](double weight, bool reaches_encoder) {
    Seq2SeqOptions options = small_options();
    options.length_weight = weight;
    options.length_gradient = reaches_encoder;
    Diffusion model = small_model(options);
    model.loss(test::tiny_batch(), small_draws(model, 2, 4), kPlain, nn::Mode::training)
        .total.backward();
    model.parameters().gather_gradients();
    return model.parameters().gradients().clone();
  };
  // How many weights get another gradient if the length loss has more weight.
  const auto touched = [&](bool reaches_encoder) {
    return gradient(0.1, reaches_encoder).ne(gradient(3, reaches_encoder)).sum().item<int64_t>();
  };
  const int64_t head = (small_options().network.transformer.width + 1) * LengthClasses::kCount;
  EXPECT_GT(touched(false), head / 2);
  EXPECT_LE(touched(false), head);
  EXPECT_GT(touched(true), head);
}

TEST(Diffusion, LearnsASmallBatchAndGeneratesIt) {
  Diffusion model = small_model();
  const Seq2SeqBatch batch = test::tiny_batch();
  at::Tensor values = model.parameters().values().detach().requires_grad_();
  values.mutable_grad() = model.parameters().gradients();
  nn::AdamW adamw({values}, {.weight_decay = 0});
  double first = 0, last = 0;
  for (uint64_t step = 0; step < 400; ++step) {
    const auto variant = static_cast<int64_t>((step + 1) % 2);
    const auto loss =
        model.loss(batch, model.draw(streams(step), 2, 4), variant, nn::Mode::training);
    loss.total.backward();
    model.parameters().gather_gradients();
    adamw.step(5e-3);
    model.parameters().zero_gradients();
    (step == 0 ? first : last) = loss.total.item<double>();
  }
  EXPECT_LT(last, 0.3 * first);

  model.refresh();
  const c10::NoGradGuard no_grad;
  const Encoded encoded = model.encode(batch.source);
  const at::Tensor visible = batch.target.ne(Dictionary::kPad);
  const Sample sample =
      model.family()->reverse(model.denoiser(encoded, visible), at::arange(2, at::kLong), {4}, {});
  EXPECT_TRUE(at::equal(at::where(visible, sample.labels, Dictionary::kPad), batch.target))
      << sample.labels;
  const at::Tensor lengths =
      model.length_scores(encoded).argmax(-1) - LengthClasses::kOffset + at::tensor({4, 3});
  EXPECT_TRUE(at::equal(lengths, at::tensor(std::vector<int64_t>{3, 4})));
}

Seq2SeqOptions joined_options() {
  Seq2SeqOptions options = small_options();
  options.network.reading = Reading::joined;
  return options;
}

TEST(Diffusion, JoinedReadsTheSource) {
  const c10::NoGradGuard no_grad;
  const Diffusion model = small_model(joined_options());
  const Seq2SeqBatch batch = test::tiny_batch();
  const at::Tensor visible = visible_keys(batch.target);
  const at::Tensor x = test::normal({2, 4, 8}, 5), t = at::tensor({900.0f, 200.0f});
  const auto estimate = [&](const at::Tensor& source) {
    const Encoded encoded = model.encode(source);
    return model.denoiser(encoded, visible)(x, t, at::zeros_like(x));
  };
  const at::Tensor found = estimate(batch.source);
  EXPECT_EQ(found.sizes(), x.sizes());
  const at::Tensor padded = at::constant_pad_nd(batch.source, {0, 3}, Dictionary::kPad);
  EXPECT_LT(test::largest_difference(estimate(padded), found), 1e-5);

  // Another word at the start of the first source changes all of the first target, and no other.
  at::Tensor other = batch.source.clone();
  other[0][0] = 11;
  const at::Tensor changed = (estimate(other) - found).abs().amax(-1);
  EXPECT_GT(changed[0].min().item<double>(), 1e-4);
  EXPECT_LT(changed[1].max().item<double>(), 1e-6);

  // A target does not see what comes after its end.
  at::Tensor wild = x.clone();
  wild[0][3] += 10;
  const Encoded encoded = model.encode(batch.source);
  const at::Tensor unseen = model.denoiser(encoded, visible)(wild, t, at::zeros_like(x));
  EXPECT_LT(test::largest_difference(unseen[0].narrow(0, 0, 3), found[0].narrow(0, 0, 3)), 1e-5);
}

TEST(Diffusion, JoinedCandidatesShareTheirSource) {
  const c10::NoGradGuard no_grad;
  const Diffusion model = small_model(joined_options());
  const Seq2SeqBatch batch = test::tiny_batch();
  const at::Tensor x = test::normal({6, 4, 8}, 5), t = at::full({6}, 500.0f);
  const Encoded encoded = model.encode(batch.source);
  const at::Tensor visible = at::ones({6, 4}, at::kBool);
  const at::Tensor all = model.denoiser(encoded, visible)(x, t, at::zeros_like(x));
  for (int64_t row = 0; row < 6; ++row) {
    const auto of = [](const at::Tensor& rows, int64_t i) { return rows.narrow(0, i, 1); };
    const Encoded own = model.encode(of(batch.source, row / 3));
    const at::Tensor alone =
        model.denoiser(own, of(visible, row))(of(x, row), of(t, row), at::zeros_like(of(x, row)));
    EXPECT_LT(test::largest_difference(alone[0], all[row]), 1e-5) << row;
  }
}

TEST(Diffusion, JoinedHasAsManyLayers) {
  const Diffusion cross = small_model(), joined = small_model(joined_options());
  EXPECT_LT(joined.parameters().count(), cross.parameters().count()) << "no attention across";
  EXPECT_THROW(make_seq2seq(
                   [] {
                     Seq2SeqOptions options = joined_options();
                     options.kind = ModelKind::autoregressive;
                     return options;
                   }(),
                   12, {}, at::kCPU, nn::Precision::float32, 1),
               UsageError);
}

TEST(Diffusion, MayLearnABiasOfSymbols) {
  Seq2SeqOptions options = small_options();
  options.process.r = 0;
  options.normalise = Normalise::none;
  options.output_bias = true;
  Diffusion model = small_model(options);
  EXPECT_NEAR(model.codebook().codes().std().item<double>(), 1, 0.2) << "codes as long as noise";
  model.loss(test::tiny_batch(), small_draws(model, 2, 4), kPlain, nn::Mode::training)
      .total.backward();
  model.parameters().gather_gradients();
  const auto named = model.parameters().named(model.parameters().gradients());
  EXPECT_GT(named.at("output_bias").abs().max().item<double>(), 0);

  // The bias is added to every symbol's score.
  const c10::NoGradGuard no_grad;
  const at::Tensor x = test::normal({20, 8}, 1), before = model.codebook().logits(x);
  model.parameters().named(model.parameters().values()).at("output_bias")[7] = 100.0;
  model.refresh();
  EXPECT_TRUE(model.codebook().decode(x).eq(7).all().item<bool>());
  EXPECT_NEAR((model.codebook().logits(x) - before).max().item<double>(), 100, 1e-3);
}

TEST(Diffusion, MayLearnFromBothPasses) {
  const c10::NoGradGuard no_grad;
  Seq2SeqOptions options = small_options();
  Diffusion second = small_model(options);
  options.condition_loss = ConditionLoss::both;
  options.self_conditioning = 1;
  Diffusion both = small_model(options);
  EXPECT_EQ(both.variant(0.999), kSelfConditioned);
  const Draws draws = small_draws(second, 2, 4);
  const auto total = [&](Diffusion& model, int64_t variant) {
    return model.loss(test::tiny_batch(), draws, variant, nn::Mode::inference).total.item<double>();
  };
  const auto loss = second.loss(test::tiny_batch(), draws, kPlain, nn::Mode::inference);
  // The length loss counts only once.
  const double length = options.length_weight * measure(second, loss, "length");
  EXPECT_NEAR(total(both, kSelfConditioned),
              total(second, kPlain) + total(second, kSelfConditioned) - length, 1e-4);
}

TEST(Diffusion, OnlyTrainingMovesTheSchedule) {
  Seq2SeqOptions options = small_options();
  options.process.r = 0;
  options.adaptive = {.stride = 3, .positions = 4};
  Diffusion model = small_model(options);
  const auto counts = [&] { return model.state().at("schedule.counts").sum().item<double>(); };
  const double before = counts();
  const Draws draws = small_draws(model, 2, 4);
  model.loss(test::tiny_batch(), draws, kPlain, nn::Mode::inference);
  EXPECT_EQ(counts(), before);
  model.loss(test::tiny_batch(), draws, kPlain, nn::Mode::training);
  EXPECT_EQ(counts(), before + 7) << "symbols, without padding";
  const at::Tensor table = model.family()->process()->warp()->table().clone();
  model.updated(2);
  EXPECT_TRUE(at::equal(model.family()->process()->warp()->table(), table));
  model.updated(3);
  EXPECT_FALSE(at::equal(model.family()->process()->warp()->table(), table));
}

TEST(Diffusion, NeverDecodesToPadding) {
  const Diffusion model = small_model();
  const at::Tensor x = at::randn({200, 8});
  const at::Tensor labels = model.codebook().decode(x);
  for (const int64_t symbol : model.undecodable())
    EXPECT_FALSE(labels.eq(symbol).any().item<bool>());
}

}  // namespace
}  // namespace tessera::seq2seq
