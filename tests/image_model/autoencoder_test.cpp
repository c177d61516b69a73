#include "image_model/autoencoder.h"

#include "files/files.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/tiny_autoencoder.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::image_model {
namespace {

using test::complaint;
using testing::HasSubstr;

at::Tensor some_pictures(int64_t count, int64_t channels = 1) {
  at::manual_seed(7);
  return at::randint(0, 256, {count, 8, 8, channels}, at::kByte);
}

constexpr TrainingStreams kDraws{{1, Purpose::test, 0}, {1, Purpose::test, 1}};

TEST(Autoencoder, PicturesBecomeCodesAndPicturesAgain) {
  const auto model = test::tiny_autoencoder(/*channels=*/3);
  const ImageShape grid = model->grid();
  EXPECT_EQ(grid, (ImageShape{.channels = 1, .height = 4, .width = 4, .symbols = 16}));
  const at::Tensor codes = model->encode(some_pictures(5, 3));
  EXPECT_EQ(codes.sizes(), (std::vector<int64_t>{5, 4, 4, 1}));
  EXPECT_EQ(codes.scalar_type(), at::kLong);
  EXPECT_GE(codes.min().item<int64_t>(), 0);
  EXPECT_LT(codes.max().item<int64_t>(), 16);
  const at::Tensor made = model->decode(codes);
  EXPECT_EQ(made.sizes(), (std::vector<int64_t>{5, 8, 8, 3}));
  EXPECT_EQ(made.scalar_type(), at::kByte);
}

TEST(Autoencoder, MasksArePicturedAsTheMeanOfAllPoints) {
  const auto model = test::tiny_autoencoder();
  const at::Tensor masks = at::full({1, 4, 4, 1}, 16, at::kLong);
  EXPECT_TRUE(at::equal(model->decode(masks), model->decode(at::full_like(masks, -1))));
}

TEST(Autoencoder, EveryWeightLearns) {
  const auto model = test::tiny_autoencoder();
  // Layers that start as zero would hide mistakes.
  at::manual_seed(2);
  model->parameters().values().add_(at::randn_like(model->parameters().values()), 0.02);
  model->refresh();
  const nn::Inputs inputs{some_pictures(6)};
  const nn::TrainingLoss loss =
      model->loss_of(inputs, model->draw_for(inputs, kDraws), 0, nn::Mode::training);
  EXPECT_EQ(loss.elements.item<double>(), 6);
  EXPECT_EQ(model->measures().size(), static_cast<size_t>(loss.measures.size(0)));
  loss.total.backward();
  model->parameters().gather_gradients();
  model->parameters().collect_gradients();
  for (const auto& [name, part] : model->parameters().named(model->parameters().gradients()))
    EXPECT_GT(part.abs().max().item<double>(), 0) << name;
}

TEST(Autoencoder, CodesLearnInTrainingAlone) {
  const auto model = test::tiny_autoencoder();
  const nn::Inputs inputs{some_pictures(6)};
  const auto before = model->state();
  std::map<std::string, at::Tensor> kept;
  for (const auto& [name, tensor] : before) kept[name] = tensor.clone();
  model->loss_of(inputs, {}, 0, nn::Mode::inference);
  for (const auto& [name, tensor] : model->state())
    EXPECT_TRUE(at::equal(tensor, kept.at(name))) << name;
  model->loss_of(inputs, model->draw_for(inputs, kDraws), 0, nn::Mode::training);
  EXPECT_FALSE(at::equal(model->state().at("codes"), kept.at("codes")));
}

TEST(Autoencoder, RefusesPicturesThatCannotBeHalved) {
  const auto make = [](const ImageShape& shape) {
    Autoencoder({.halvings = 2}, shape, 1, at::kCPU, nn::Precision::float32, 1);
  };
  EXPECT_THAT(complaint([&] { make({.channels = 1, .height = 30, .width = 32}); }),
              HasSubstr("model.halvings"));
  EXPECT_THROW(make({.channels = 1, .height = 0, .width = 32}), UsageError);
  EXPECT_THROW(make({.channels = 1, .height = 8, .width = 8, .symbols = 16}), UsageError)
      << "codes of another";
}

class AutoencoderFolder : public testing::Test {
 protected:
  void expect_alike(const Autoencoder& other) const {
    const at::Tensor pictures = some_pictures(3, 3), codes = model_->encode(pictures);
    EXPECT_TRUE(at::equal(other.encode(pictures), codes));
    EXPECT_TRUE(at::equal(other.decode(codes), model_->decode(codes)));
  }

  std::unique_ptr<Autoencoder> model_ = test::tiny_autoencoder(/*channels=*/3);
  test::TemporaryFolder folder_;
};

TEST_F(AutoencoderFolder, ComesBackAsItWas) {
  write_autoencoder_folder(folder_ / "m", *model_, model_->parameters().values(), {});
  EXPECT_EQ(kind_of_model(folder_ / "m"), kAutoencoderKind);
  expect_alike(*load_autoencoder_folder(folder_ / "m", at::kCPU));
}

TEST_F(AutoencoderFolder, OrAsOneFile) {
  save_autoencoder(folder_ / "a.safetensors", *model_);
  const auto loaded = load_autoencoder(folder_ / "a.safetensors", at::kCPU);
  expect_alike(*loaded);
  save_autoencoder(folder_ / "b.safetensors", *loaded);
  EXPECT_EQ(read_file(folder_ / "a.safetensors"), read_file(folder_ / "b.safetensors"));
}

TEST_F(AutoencoderFolder, RefusesWhatIsNone) {
  safetensors::save(folder_ / "a.safetensors", {{"x", at::zeros({2})}});
  const auto load = [&] { load_autoencoder(folder_ / "a.safetensors", at::kCPU); };
  EXPECT_THAT(complaint(load), HasSubstr("not an autoencoder"));
  save_autoencoder(folder_ / "a.safetensors", *model_);
  const safetensors::File file(folder_ / "a.safetensors");
  auto metadata = file.metadata();
  auto tensors = file.tensors();
  metadata["format"] = "9";
  safetensors::save(folder_ / "a.safetensors", tensors, metadata);
  EXPECT_THAT(complaint(load), HasSubstr("format '9'"));
  metadata = file.metadata();
  metadata["width"] = "wide";
  safetensors::save(folder_ / "a.safetensors", tensors, metadata);
  EXPECT_THAT(complaint(load), HasSubstr("no number 'width'"));
  metadata = file.metadata();
  metadata["options"] = "model.width = 60000\n";
  safetensors::save(folder_ / "a.safetensors", tensors, metadata);
  EXPECT_THAT(complaint(load), HasSubstr("do not fit its options"));
  tensors.erase("state.sums");
  safetensors::save(folder_ / "a.safetensors", tensors, file.metadata());
  EXPECT_THAT(complaint(load), HasSubstr("state.sums"));
}

}  // namespace
}  // namespace tessera::image_model
