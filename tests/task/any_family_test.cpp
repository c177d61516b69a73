// A family of diffusion that the library does not know, with the library's networks: the
// encoder-decoder on dates, the U-Net on small images.

#include "corpus/batcher.h"
#include "corpus/corpus.h"
#include "corpus/date_pairs.h"
#include "image_model/image_generator.h"
#include "image_model/image_model.h"
#include "process/masked_mean.h"
#include "seq2seq/diffusion.h"
#include "seq2seq/generator.h"
#include "support/temporary_folder.h"
#include "train/learner.h"

#include <tessera/process/family.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>

namespace tessera::task {
namespace {

// Some symbols of a sample are hidden: a point that is no code replaces their code, and the network
// predicts them. There is no time. Sampling uncovers a few symbols at a time, in a random order.
class Masking final : public Family {
 public:
  using Family::Family;

  double horizon() const override { return 1; }
  std::string summary() const override { return "masking"; }
  std::span<const std::string_view> measures() const override { return kMeasures; }

  Draws draw(const TrainingStreams& streams, const at::Tensor& samples,
             at::IntArrayRef elements) const override {
    const std::vector<int64_t> one(elements.size(), 1);
    return {random_normal(streams.noise, samples, elements),
            random_normal(streams.time, samples, one)};  // decides how many are hidden
  }

  Corrupted corrupt(const at::Tensor& labels, const Draws& draws) const override {
    const at::Tensor hidden = draws[0].lt(draws[1] + 0.5);
    return {covered(labels, hidden), at::zeros({labels.size(0)}, draws[0].options()), {hidden}};
  }

  FamilyLoss loss(const Corrupted& corrupted, const at::Tensor& output, const at::Tensor& labels,
                  const at::Tensor& mask) const override {
    const at::Tensor& hidden = corrupted.hidden[0];
    const at::Tensor total = masked_mean(codebook().cross_entropy(output, labels),
                                         mask.defined() ? hidden.logical_and(mask) : hidden);
    return {total, total.detach().view({1})};
  }

  Sample reverse(const Denoiser& network, const at::Tensor& samples, at::IntArrayRef elements,
                 const SamplerOptions& options, const StepCallback& /*callback*/,
                 const at::Tensor& /*seeds*/, const at::Tensor& /*present*/) const override {
    const c10::NoGradGuard no_grad;
    const at::Tensor order = random_normal({options.seed, Purpose::sampling, 0}, samples, elements);
    at::Tensor labels = at::zeros(order.sizes(), samples.options()), estimate;
    for (int64_t step = 0; step < options.steps; ++step) {
      const at::Tensor hidden = order.ge(-2 + 4.0 * step / options.steps).logical_or(order.lt(-2));
      const at::Tensor x =
          step == 0 ? covered(labels, at::ones_like(hidden)) : covered(labels, hidden);
      estimate = network(x, at::zeros({samples.size(0)}, x.options()), at::zeros_like(x));
      const at::Tensor seen = codebook().decode(estimate);
      labels = step == 0 ? seen : at::where(hidden, seen, labels);
    }
    return {labels, estimate, options.steps};
  }
  int64_t calls(const SamplerOptions& options) const override { return options.steps; }

 private:
  static constexpr std::array<std::string_view, 1> kMeasures{"cross_entropy"};

  at::Tensor covered(const at::Tensor& labels, const at::Tensor& hidden) const {
    return codebook().encode(labels).masked_fill(hidden.unsqueeze(-1), 0);
  }
};

const FamilyMaker kMasking = [](const Codebook& codebook) {
  return std::make_unique<Masking>(codebook);
};

double loss_after(train::Learner& learner, int64_t updates, auto&& batch, double learning_rate) {
  for (int64_t step = 0; step < updates; ++step) {
    const nn::Inputs inputs = batch(step);
    learner.update(step, std::span(&inputs, 1), learning_rate);
  }
  return learner.read().loss;
}

TEST(AnyFamily, LearnsDatesWithTheEncoderDecoder) {
  const test::TemporaryFolder folder;
  corpus::make_date_corpus(folder / "dates", /*seed=*/1, /*pairs=*/2000);
  const corpus::Corpus corpus = corpus::Corpus::open(folder / "dates");
  seq2seq::Seq2SeqOptions options;
  options.network = {
      .latent = 32,
      .transformer = {.width = 64, .feedforward = 128, .heads = 4, .layers = 1, .dropout = 0},
      .positions = 64};
  options.self_conditioning = 0;
  seq2seq::Diffusion model(options, corpus.tokenizer().dictionary().size(),
                           corpus.unused_in_targets(), at::kCPU, nn::Precision::float32, 1,
                           kMasking);
  corpus::BatcherOptions batches;
  batches.tokens = 1024;
  batches.max_length = 64;
  const corpus::Batcher batcher(corpus.split("train"), batches, 1);
  const auto batch = [&](int64_t step) {
    return seq2seq::Seq2SeqBatch::of(
               batcher.batch(step / batcher.batches(0), step % batcher.batches(0)))
        .inputs();
  };
  train::Learner learner(model, {.ema = 0}, /*seed=*/1);
  const double first = loss_after(learner, 1, batch, 0);
  loss_after(learner, 300, batch, 3e-3);
  EXPECT_LT(loss_after(learner, 20, batch, 1e-3), first / 4);

  model.refresh();
  seq2seq::GenerationOptions generation;
  generation.sampler.steps = 5;
  generation.lengths = 1;
  const corpus::Split& valid = corpus.split("valid");
  std::vector<std::vector<text::Id>> sources;
  for (int64_t k = 0; k < 100; ++k)
    sources.emplace_back(valid.source(k).begin(), valid.source(k).end());
  const auto results = seq2seq::Generator(model, generation).generate(sources);
  static const std::regex date("[12][0-9]{3}-[01][0-9]-[0-3][0-9]");
  int64_t dates = 0;
  for (const seq2seq::Generated& result : results)
    dates += std::regex_match(corpus.tokenizer().decode(result.ids()), date);
  EXPECT_GE(dates, 80);
  EXPECT_EQ(results[0].nfe, 5);
}

TEST(AnyFamily, LearnsImagesWithTheUNet) {
  image_model::ImageModelOptions options;
  options.coding.kind = image_model::Coding::trainable;
  options.network = {.width = 16, .stages = 2, .blocks = 1, .attention_side = 0};
  options.self_conditioning = 0;
  image_model::ImageModel model(options, {.channels = 1, .height = 4, .width = 4}, /*classes=*/0,
                                at::kCPU, nn::Precision::float32, 1, kMasking);
  // Pictures of two halves, one bright and one dark.
  const at::Tensor bright = at::full({4, 2, 4, 1}, 200, at::kByte),
                   dark = at::full_like(bright, 30);
  const nn::Inputs pictures{at::cat({at::cat({bright, dark}, 1), at::cat({dark, bright}, 1)})};
  const auto batch = [&](int64_t) { return pictures; };
  train::Learner learner(model, {.ema = 0}, /*seed=*/1);
  const double first = loss_after(learner, 1, batch, 0);
  loss_after(learner, 100, batch, 3e-3);
  EXPECT_LT(loss_after(learner, 10, batch, 1e-3), first / 10);

  model.refresh();
  const c10::NoGradGuard no_grad;
  image_model::SamplingOptions sampling;
  sampling.sampler.steps = 8;
  const at::Tensor made = image_model::ImageGenerator(model, sampling).generate(0, 8).flatten(1);
  const double known =
      at::logical_or(made.eq(200), made.eq(30)).to(at::kFloat).mean().item<double>();
  EXPECT_GT(known, 0.9) << "other values than those it was shown";
}

}  // namespace
}  // namespace tessera::task
