// Models of images whose sub-pixels are symbols: diffusion of the values themselves.

#include "image_model/image_folder.h"
#include "image_model/image_generator.h"
#include "image_model/image_model.h"
#include "image_model/symbol_methods.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::image_model {
namespace {

constexpr ImageShape kTwoChannels{.channels = 2, .height = 8, .width = 8};
constexpr TrainingStreams kNumbers{{1, Purpose::test, 0}, {1, Purpose::test, 1}};

using test::Method;
using test::methods;

std::unique_ptr<ImageModel> model_of(const ImageModelOptions& options, int64_t classes = 0) {
  auto model = std::make_unique<ImageModel>(options, kTwoChannels, classes, at::kCPU,
                                            nn::Precision::float32, 1);
  at::manual_seed(2);  // layers that start as zero would hide mistakes
  model->parameters().values().add_(at::randn_like(model->parameters().values()), 0.02);
  model->refresh();
  return model;
}

SamplingOptions sampling_of(const Method& method) {
  SamplingOptions options;
  options.sampler.steps = 5;
  options.sampler.symbols = method.sampling;
  return options;
}

TEST(SymbolImages, EveryMethodLearns) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const auto model = model_of(method.options);
    at::manual_seed(5);
    const nn::Inputs inputs{at::randint(0, 256, {4, 8, 8, 2}, at::kByte)};
    const Draws draws = model->draw_for(inputs, kNumbers);
    const nn::TrainingLoss loss =
        model->loss_of(inputs, draws, model->variant(0), nn::Mode::training);
    EXPECT_TRUE(std::isfinite(loss.total.item<double>()));
    EXPECT_EQ(loss.elements.item<double>(), 4);
    // A uniform guess has ln 256 = 5.5 nats.
    EXPECT_NEAR(loss.measures[1].item<double>(), 5.5, 2.5) << "cross-entropy";
    loss.total.backward();
    model->parameters().gather_gradients();
    model->parameters().collect_gradients();
    const at::Tensor gradient = model->parameters().gradients();
    EXPECT_TRUE(gradient.isfinite().all().item<bool>());
    for (const auto& [name, part] : model->parameters().named(gradient))
      EXPECT_GT(part.abs().max().item<double>(), 0) << name;
  }
}

TEST(SymbolImages, AnImageDependsOnItsNumberAlone) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const auto model = model_of(method.options);
    const ImageGenerator generator(*model, sampling_of(method));
    EXPECT_EQ(generator.calls(), 5);
    const at::Tensor all = generator.generate(0, 4);
    EXPECT_EQ(all.sizes(), (std::vector<int64_t>{4, 2, 8, 8}));
    const at::Tensor last = generator.generate(2, 2);
    EXPECT_LT((all.narrow(0, 2, 2) != last).to(at::kFloat).mean().item<double>(), 0.02);
    EXPECT_GT((all[0] != all[1]).to(at::kFloat).mean().item<double>(), 0.1);
  }
}

TEST(SymbolImages, StepsShowNoisyValuesAndMasks) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const auto model = model_of(method.options);
    int64_t steps = 0;
    at::Tensor first;
    ImageGenerator(*model, sampling_of(method)).generate(0, 2, {}, [&](const SampleStep& step) {
      if (!first.defined()) first = step.noisy;
      EXPECT_EQ(step.labels.sizes(), step.noisy.sizes());
      EXPECT_LT(step.labels.max().item<int64_t>(), 256) << "estimates are no masks";
      ++steps;
      return true;
    });
    EXPECT_GE(steps, 4);
    if (method.name == "MDLM") {
      EXPECT_TRUE(first.eq(256).all().item<bool>());
    }
    if (method.name == "D3PM absorbing") {
      EXPECT_TRUE(first.eq(128).all().item<bool>());
    }
    EXPECT_EQ(model->pictures_of(first).scalar_type(), at::kByte);
    if (method.name == "MDLM") {
      EXPECT_TRUE(model->pictures_of(first).eq(128).all().item<bool>());
    }
  }
}

TEST(SymbolImages, BeginWithTheValueThatStandsThere) {
  const Method method = methods().front();  // with a logistic head
  const ImageModel model(method.options, kTwoChannels, 0, at::kCPU, nn::Precision::float32, 1);
  const at::Tensor values = at::randint(0, 256, {2, 8, 8, 2}, at::kLong);
  const at::Tensor x = model.codebook().encode(values);
  const at::Tensor output = model.denoiser({}, 1)(x, at::full({2}, 3.0), at::zeros_like(x));
  EXPECT_EQ(output.sizes(), (std::vector<int64_t>{2, 8, 8, 2, 2}));
  EXPECT_TRUE(at::allclose(output.select(-1, 0), at::tanh(x.select(-1, 0)), 1e-3, 1e-3));
  EXPECT_LT(output.select(-1, 1).abs().max().item<double>(), 1e-3);
}

TEST(SymbolImages, TimeIsToldOrNot) {
  for (const Method& method : methods()) {
    const auto model = model_of(method.options);
    const at::Tensor labels = at::randint(0, 256, {2, 8, 8, 2}, at::kLong);
    const Draws draws =
        model->family().draw(kNumbers, at::arange(2), {kTwoChannels.height, kTwoChannels.width, 2});
    const at::Tensor told = model->family().corrupt(labels, draws).time;
    EXPECT_EQ(told[0].equal(told[1]), method.name == "MDLM") << method.name;
  }
}

TEST(SymbolImages, ClassesChangeWhatIsMade) {
  for (Method method : methods()) {
    SCOPED_TRACE(method.name);
    method.options.conditional = true;
    const auto model = model_of(method.options, 3);
    const ImageGenerator generator(*model, sampling_of(method));
    const at::Tensor one = generator.generate(0, 2, at::tensor({0, 0}, at::kLong)),
                     two = generator.generate(0, 2, at::tensor({2, 2}, at::kLong));
    EXPECT_FALSE(at::equal(one, two));
  }
}

TEST(SymbolImages, AModelFolderKeepsTheMethod) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const test::TemporaryFolder folder;
    const auto model = model_of(method.options);
    const SamplingOptions sampling = sampling_of(method);
    write_image_folder(folder / "m", *model, model->parameters().values(), {}, sampling, {});
    const LoadedImageModel loaded =
        load_image_folder(folder / "m", at::kCPU, nn::Precision::float32);
    EXPECT_TRUE(loaded.sampling == sampling);
    EXPECT_TRUE(at::equal(ImageGenerator(*model, sampling).generate(0, 2),
                          ImageGenerator(*loaded.model, loaded.sampling).generate(0, 2)));
  }
}

TEST(SymbolImages, RefuseOptionsThatDoNotFit) {
  ImageModelOptions seeing = methods().front().options;
  seeing.self_conditioning = 0.5;
  EXPECT_THROW(model_of(seeing), UsageError);
  ImageModelOptions grey = methods()[2].options;
  grey.symbols.process.mask_value = 256;
  EXPECT_THROW(model_of(grey), UsageError) << "no value";
  ImageModelOptions continuous = methods().front().options;
  continuous.symbols.process.continuous = true;
  EXPECT_THROW(model_of(continuous), UsageError);
  const auto gauss = model_of(methods().front().options);
  SamplingOptions sampling;
  sampling.sampler.steps = 21;
  EXPECT_THROW(ImageGenerator(*gauss, sampling), UsageError) << "more steps than times";
  sampling.sampler.steps = 5;
  sampling.sampler.symbols.predictor = Predictor::tau_leaping;
  EXPECT_THROW(ImageGenerator(*gauss, sampling), UsageError) << "no rates";
  const auto masked = model_of(methods()[3].options);
  EXPECT_THROW(ImageGenerator(*masked, sampling), UsageError) << "masks have no place";
}

}  // namespace
}  // namespace tessera::image_model
