// Models of images whose symbols are the codes of an autoencoder.

#include "image_model/image_folder.h"
#include "image_model/image_generator.h"
#include "image_model/image_model.h"
#include "image_model/tiny_autoencoder.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace tessera::image_model {
namespace {

using test::complaint;
using testing::HasSubstr;

constexpr ImageShape kGrid{.channels = 1, .height = 4, .width = 4, .symbols = 16};

struct Way {
  std::string name;
  ImageModelOptions options;
};

ImageModelOptions options_of(Coding coding, const SymbolFamilyOptions& symbols = {}) {
  ImageModelOptions options;
  options.coding = {.kind = coding, .latent = 4};
  options.network = {.width = 8, .stages = 2, .blocks = 1, .attention_side = 4, .head_width = 8};
  options.layers = 1;
  options.self_conditioning = diffuses_symbols(coding) ? 0 : 0.5;
  options.symbols = symbols;
  return options;
}

// Every family goes with codes.
std::vector<Way> ways() {
  const SymbolProcessOptions uniform{.noise = SymbolNoise::uniform};
  std::vector<Way> all{
      {"MDLM", options_of(Coding::symbols, {{}, {}, /*told_time=*/false})},
      {"UDLM", options_of(Coding::symbols, {uniform, {}})},
      {"tauLDR", options_of(Coding::symbols, {uniform, {.target = SymbolTarget::one_jump}})},
      {"SDDM", options_of(Coding::symbols, {uniform, {.target = SymbolTarget::ratio_matching}})},
      {"bits", options_of(Coding::bits)},
      {"fixed", options_of(Coding::fixed)},
      {"trainable", options_of(Coding::trainable)}};
  all[3].options.network_kind = ImageNetwork::hollow;
  return all;
}

std::unique_ptr<ImageModel> model_of_codes(const ImageModelOptions& options,
                                           const ImageShape& shape = kGrid) {
  auto model =
      std::make_unique<ImageModel>(options, shape, /*classes=*/0, at::kCPU, nn::Precision::float32,
                                   1, FamilyMaker(), test::tiny_autoencoder(/*channels=*/3));
  at::manual_seed(2);  // layers that start as zero would hide mistakes
  model->parameters().values().add_(at::randn_like(model->parameters().values()), 0.02);
  model->refresh();
  return model;
}

SamplingOptions few_steps() {
  SamplingOptions options;
  options.sampler.steps = 4;
  return options;
}

TEST(CodeImages, EveryMethodLearns) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    const auto model = model_of_codes(way.options);
    at::manual_seed(5);
    const nn::Inputs inputs{at::randint(0, 16, {4, 4, 4, 1}, at::kShort)};
    const Draws draws = model->draw_for(inputs, {{1, Purpose::test, 0}, {1, Purpose::test, 1}});
    const nn::TrainingLoss loss =
        model->loss_of(inputs, draws, model->variant(0), nn::Mode::training);
    EXPECT_TRUE(std::isfinite(loss.total.item<double>()));
    loss.total.backward();
    model->parameters().gather_gradients();
    model->parameters().collect_gradients();
    const at::Tensor gradient = model->parameters().gradients();
    EXPECT_TRUE(gradient.isfinite().all().item<bool>());
    for (const auto& [name, part] : model->parameters().named(gradient))
      EXPECT_GT(part.abs().max().item<double>(), 0) << name;
  }
}

TEST(CodeImages, MakesPicturesOfTheAutoencodersSize) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    const auto model = model_of_codes(way.options);
    EXPECT_EQ(model->picture_shape(), (ImageShape{.channels = 3, .height = 8, .width = 8}));
    const at::Tensor made = ImageGenerator(*model, few_steps()).generate(0, 3);
    EXPECT_EQ(made.sizes(), (std::vector<int64_t>{3, 3, 8, 8}));
    EXPECT_EQ(made.scalar_type(), at::kByte);
  }
}

TEST(CodeImages, AModelFolderTakesTheAutoencoderWithIt) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    const test::TemporaryFolder folder;
    const auto model = model_of_codes(way.options);
    write_image_folder(folder / "m", *model, model->parameters().values(), {}, few_steps(), {});
    const LoadedImageModel loaded =
        load_image_folder(folder / "m", at::kCPU, nn::Precision::float32);
    ASSERT_NE(loaded.model->decoder(), nullptr);
    EXPECT_TRUE(at::equal(ImageGenerator(*model, few_steps()).generate(0, 2),
                          ImageGenerator(*loaded.model, loaded.sampling).generate(0, 2)));
    std::filesystem::remove(folder / "m" / "autoencoder.safetensors");
    EXPECT_THAT(
        complaint([&] { load_image_folder(folder / "m", at::kCPU, nn::Precision::float32); }),
        HasSubstr("autoencoder.safetensors"));
  }
}

TEST(CodeImages, RefuseCodesThatAreNotTheAutoencoders) {
  const ImageModelOptions options = options_of(Coding::symbols);
  ImageShape other = kGrid;
  other.symbols = 17;
  EXPECT_THAT(complaint([&] { model_of_codes(options, other); }),
              HasSubstr("4 x 4 of 17 kinds, those of the autoencoder 4 x 4 of 16"));
  other = kGrid;
  other.width = 8;
  EXPECT_THAT(complaint([&] { model_of_codes(options, other); }), HasSubstr("8 x 4 of 16 kinds"));
  EXPECT_THAT(
      complaint([&] { ImageModel(options, kGrid, 0, at::kCPU, nn::Precision::float32, 1); }),
      HasSubstr("need the autoencoder"));
}

TEST(CodeImages, RefuseCodingsThatReadAnOrder) {
  for (const Coding coding : {Coding::pixels, Coding::values}) {
    ImageModelOptions options = options_of(coding);
    options.process.r = 0;
    EXPECT_THAT(complaint([&] { model_of_codes(options); }),
                HasSubstr("codes of an autoencoder have"))
        << name_of(coding);
  }
  ImageModelOptions seeing = options_of(Coding::symbols);
  seeing.self_conditioning = 0.5;
  EXPECT_THROW(model_of_codes(seeing), UsageError);
}

// Bits need a power of two, which 256 values are and 10 codes are not.
TEST(CodeImages, BitsAreOfAllCodes) {
  const auto model = [](Coding coding) {
    ImageShape grid = kGrid;
    grid.symbols = 10;
    return ImageModel(options_of(coding), grid, 0, at::kCPU, nn::Precision::float32, 1,
                      FamilyMaker(), test::tiny_autoencoder(1, 10));
  };
  EXPECT_THAT(complaint([&] { model(Coding::bits); }), HasSubstr("power of two"));
  EXPECT_EQ(model(Coding::symbols).codebook().decodable(), 10);
}

}  // namespace
}  // namespace tessera::image_model
