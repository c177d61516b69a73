#include "image_model/image_model.h"

#include "image_model/image_folder.h"
#include "image_model/image_generator.h"
#include "image_model/pixel_codes.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera::image_model {
namespace {

constexpr ImageShape kShape{.channels = 1, .height = 8, .width = 8};

ImageModelOptions small_options(Coding coding = Coding::bits) {
  ImageModelOptions options;
  options.coding.kind = coding;
  options.network = {.width = 8, .stages = 2, .blocks = 1, .attention_side = 4, .head_width = 8};
  options.process.r = coding == Coding::pixels ? 0 : 0.5;
  return options;
}

std::unique_ptr<ImageModel> small_model(const ImageModelOptions& options, int64_t classes = 0) {
  auto model =
      std::make_unique<ImageModel>(options, kShape, classes, at::kCPU, nn::Precision::float32, 1);
  at::manual_seed(2);  // layers that start as zero would hide mistakes
  model->parameters().values().add_(at::randn_like(model->parameters().values()), 0.05);
  model->refresh();
  return model;
}

nn::Inputs small_batch(bool classes = false) {
  at::manual_seed(5);
  nn::Inputs inputs{at::randint(0, 256, {4, 8, 8, 1}, at::kByte)};
  if (classes) inputs.push_back(at::tensor({0, 1, 2, 0}, at::kLong));
  return inputs;
}

constexpr TrainingStreams kStreams{{1, Purpose::test, 0}, {1, Purpose::test, 1}};

double loss_of(ImageModel& model, const nn::Inputs& inputs) {
  const Draws draws = model.draw_for(inputs, kStreams);
  return model.loss_of(inputs, draws, /*variant=*/1, nn::Mode::inference).total.item<double>();
}

TEST(PixelCodes, EveryCodingDecodesWhatItEncodes) {
  for (const Coding coding : {Coding::bits, Coding::fixed, Coding::trainable, Coding::pixels}) {
    CodingOptions options{.kind = coding};
    at::manual_seed(1);
    const auto codes = pixel_codes(options, kValues, at::randn({256, 8}), at::kCPU);
    const at::Tensor values = at::arange(256);
    EXPECT_EQ(codes->dim(), code_widths(options, kValues).input);
    EXPECT_EQ(codes->output_dim(), code_widths(options, kValues).output);
    EXPECT_TRUE(at::equal(codes->decode(codes->encode(values)), values)) << name_of(coding);
  }
}

TEST(PixelCodes, ShuffledValuesHaveOtherBits) {
  const auto plain = pixel_codes({}, kValues, {}, at::kCPU),
             shuffled = pixel_codes({.shuffle = 7}, kValues, {}, at::kCPU);
  const at::Tensor values = at::arange(256);
  EXPECT_FALSE(at::equal(plain->encode(values), shuffled->encode(values)));
  EXPECT_TRUE(at::equal(shuffled->decode(shuffled->encode(values)), values));
}

TEST(ImageModel, EveryCodingLearns) {
  for (const Coding coding : {Coding::bits, Coding::fixed, Coding::trainable, Coding::pixels}) {
    const auto model = small_model(small_options(coding));
    const nn::Inputs inputs = small_batch();
    const Draws draws = model->draw_for(inputs, kStreams);
    const nn::TrainingLoss loss = model->loss_of(inputs, draws, /*variant=*/1, nn::Mode::training);
    EXPECT_TRUE(std::isfinite(loss.total.item<double>())) << name_of(coding);
    EXPECT_EQ(loss.elements.item<double>(), 4);
    loss.total.backward();
    model->parameters().gather_gradients();
    model->parameters().collect_gradients();
    const at::Tensor gradient = model->parameters().gradients();
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << name_of(coding);
    for (const auto& [name, part] : model->parameters().named(gradient))
      EXPECT_GT(part.abs().max().item<double>(), 0) << name << " of " << name_of(coding);
  }
}

TEST(ImageModel, TrainableCodesBeginAsBitsWhereAsked) {
  ImageModelOptions options = small_options(Coding::trainable);
  options.coding.start = CodeStart::bits;
  const ImageModel model(options, kShape, 0, at::kCPU, nn::Precision::float32, 1);
  const at::Tensor values = at::arange(256);
  const auto bits = pixel_codes({}, kValues, {}, at::kCPU);
  EXPECT_TRUE(at::allclose(model.codebook().encode(values), bits->encode(values)));
  options.coding.latent = 6;
  EXPECT_THROW(ImageModel(options, kShape, 0, at::kCPU, nn::Precision::float32, 1), UsageError);
}

TEST(ImageModel, BitsAreLearntBySquaredErrorAlone) {
  EXPECT_EQ(small_model(small_options(Coding::bits))->options().objective.cross_entropy_weight, 0);
  EXPECT_EQ(small_model(small_options(Coding::fixed))->options().objective.cross_entropy_weight, 1);
}

TEST(ImageModel, SelfConditioningConcernsTheFirstHalfOfABatch) {
  const auto model = small_model(small_options());
  nn::Inputs inputs = small_batch();
  const Draws draws = model->draw_for(inputs, kStreams);
  constexpr int64_t kPlain = 0, kSelfConditioned = 1;
  const auto loss = [&](std::vector<int64_t> order, int64_t variant) {
    const at::Tensor chosen = at::tensor(order, at::kLong);
    Draws theirs;
    for (const at::Tensor& each : draws) theirs.push_back(each.index_select(0, chosen));
    return model->loss_of({inputs[0].index_select(0, chosen)}, theirs, variant, nn::Mode::inference)
        .total.item<double>();
  };
  const double usual = loss({0, 1, 2, 3}, kSelfConditioned);
  EXPECT_NE(usual, loss({0, 1, 2, 3}, kPlain));
  EXPECT_NE(usual, loss({2, 3, 0, 1}, kSelfConditioned)) << "it matters who comes first";
  EXPECT_NEAR(usual, loss({1, 0, 3, 2}, kSelfConditioned), 1e-5) << "but not within a half";
}

TEST(ImageModel, RefusesOptionsThatDoNotFit) {
  ImageModelOptions pixels = small_options(Coding::pixels);
  pixels.process.r = 0.5;
  EXPECT_THROW(small_model(pixels), UsageError);
  ImageModelOptions conditional = small_options();
  conditional.conditional = true;
  EXPECT_THROW(small_model(conditional, /*classes=*/0), UsageError);
  ImageModelOptions deep = small_options();
  deep.network.stages = 5;
  EXPECT_THROW(small_model(deep), UsageError);
}

TEST(ImageModel, ClassesChangeTheLoss) {
  ImageModelOptions options = small_options();
  options.conditional = true;
  const auto model = small_model(options, 3);
  nn::Inputs inputs = small_batch(/*classes=*/true);
  const double before = loss_of(*model, inputs);
  inputs[1] = at::tensor({2, 2, 1, 1}, at::kLong);
  EXPECT_NE(loss_of(*model, inputs), before);
}

TEST(ImageGenerator, AnImageDependsOnItsNumberAlone) {
  const auto model = small_model(small_options());
  SamplingOptions options;
  options.sampler.steps = 4;
  const ImageGenerator generator(*model, options);
  EXPECT_EQ(generator.calls(), 5) << "4 steps and the final call";
  const at::Tensor all = generator.generate(0, 5);
  EXPECT_EQ(all.sizes(), (std::vector<int64_t>{5, 1, 8, 8}));
  EXPECT_EQ(all.scalar_type(), at::kByte);
  const at::Tensor last = generator.generate(3, 2);
  EXPECT_LT((all.narrow(0, 3, 2) != last).to(at::kFloat).mean().item<double>(), 0.01);
  options.batch = 2;
  std::vector<at::Tensor> parts;
  ImageGenerator(*model, options).stream(0, 5, {}, [&](const at::Tensor& some) {
    parts.push_back(some);
  });
  EXPECT_EQ(parts.size(), 3u);
  EXPECT_LT((at::cat(parts) != all).to(at::kFloat).mean().item<double>(), 0.01);
}

TEST(ImageGenerator, CodesOfOneWidthBeginWithTheSameNoise) {
  const auto first_noise = [](Coding coding) {
    const auto model = small_model(small_options(coding));
    at::Tensor noise;
    ImageGenerator(*model, {.sampler = {.steps = 2, .seed = 4}})
        .generate(3, 2, {}, [&](const SampleStep& step) {
          noise = step.eps_hat;
          return false;
        });
    return noise;
  };
  const at::Tensor bits = first_noise(Coding::bits);
  EXPECT_TRUE(at::equal(bits, first_noise(Coding::fixed)));
  EXPECT_TRUE(at::equal(bits, first_noise(Coding::trainable)));
  EXPECT_NE(bits.sizes(), first_noise(Coding::pixels).sizes());
}

TEST(ImageGenerator, GuidanceOfOneIsTheClassItself) {
  ImageModelOptions options = small_options();
  options.conditional = true;
  const auto model = small_model(options, 3);
  const at::Tensor x = at::randn({2, 8, 8, 1, 8}), t = at::full({2}, 500.0);
  const at::Tensor previous = at::zeros_like(x), classes = at::tensor({0, 2}, at::kLong);
  const at::Tensor plain = model->denoiser(classes, 1)(x, t, previous);
  const at::Tensor none = model->denoiser({}, 1)(x, t, previous);
  const at::Tensor twice = model->denoiser(classes, 2)(x, t, previous);
  EXPECT_TRUE(at::allclose(twice, none + 2 * (plain - none), 1e-3, 1e-4));
  EXPECT_FALSE(at::allclose(plain, none, 1e-3, 1e-4));
}

TEST(ImageGenerator, GuidanceOfARecipeIsNotUsedWithoutClasses) {
  const auto model = small_model(small_options());
  SamplingOptions options;
  options.sampler.steps = 3;
  const at::Tensor plain = ImageGenerator(*model, options).generate(0, 2);
  options.guidance = 2;
  EXPECT_TRUE(at::equal(ImageGenerator(*model, options).generate(0, 2), plain));
}

TEST(ImageFolder, GivesBackWhatWasWritten) {
  const test::TemporaryFolder folder;
  ImageModelOptions options = small_options(Coding::trainable);
  options.conditional = true;
  const auto model = small_model(options, 2);
  SamplingOptions sampling;
  sampling.sampler.steps = 3;
  write_image_folder(folder / "m", *model, model->parameters().values(), {"cat", "dog"}, sampling,
                     {});
  EXPECT_EQ(kind_of_model(folder / "m"), kImageKind);
  const LoadedImageModel loaded = load_image_folder(folder / "m", at::kCPU, nn::Precision::float32);
  EXPECT_EQ(loaded.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(loaded.sampling.sampler.steps, 3);
  EXPECT_TRUE(loaded.model->shape() == kShape);
  EXPECT_TRUE(at::equal(ImageGenerator(*model, sampling).generate(0, 2),
                        ImageGenerator(*loaded.model, loaded.sampling).generate(0, 2)));
}

}  // namespace
}  // namespace tessera::image_model
