#include "task/autoencoder_task.h"

#include "evaluation/image_codes.h"
#include "image/dataset_writer.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/image_folder.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "task/image_task.h"
#include "train/learner.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::task {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::HasSubstr;
using testing::StartsWith;

void never() {}

// Pictures of 8 x 8: four squares, each all bright or all dark. Forty to train on, twelve held out.
at::Tensor squares() {
  std::vector<at::Tensor> pictures;
  for (int64_t k = 0; k < 52; ++k) {
    at::Tensor small = at::zeros({1, 1, 2, 2}, at::kByte);
    for (int64_t bit = 0; bit < 4; ++bit)
      small.view(-1)[bit].fill_((k * 7 % 16 >> bit & 1) != 0 ? 220 : 30);
    pictures.push_back(small.repeat_interleave(4, 2).repeat_interleave(4, 3));
  }
  return at::cat(pictures);
}

ImageOptions tiny_codes() {
  ImageOptions options;
  options.kind = ImageKind::autoencoder;
  options.data.batch = 20;
  options.autoencoder = {
      .width = 8, .halvings = 2, .blocks = 1, .quantiser = {.codes = 4, .width = 2}};
  options.validation.shown = 0;
  return options;
}

ImageOptions tiny_images_of_codes() {
  ImageOptions options;
  options.data.batch = 20;
  options.model.coding = {.kind = image_model::Coding::symbols, .latent = 4};
  options.model.network = {.width = 16, .stages = 1, .blocks = 1, .attention_side = 0};
  options.model.self_conditioning = 0;
  options.sampling.sampler.steps = 4;
  options.validation.shown = 0;
  return options;
}

class AutoencoderTaskTest : public testing::Test {
 protected:
  AutoencoderTaskTest() {
    image::DatasetWriter writer(folder_ / "set", {});
    const image::TensorImages images(squares());
    writer.add_split("train", images, at::Tensor(), 0, 40);
    writer.add_split("valid", images, at::Tensor(), 40, 52);
    writer.commit({});
  }

  AutoencoderTask make(const ImageOptions& options = tiny_codes(), const char* set = "set") const {
    return AutoencoderTask(options, image::Dataset(folder_ / set), /*seed=*/1, at::kCPU);
  }

  static void train(train::Task& task, train::Learner& learner, int64_t begin, int64_t end,
                    double rate = 1e-2) {
    for (int64_t step = begin; step < end; ++step) {
      const nn::Inputs batch = task.batch(step / task.batches(0), step % task.batches(0));
      learner.update(step, std::span(&batch, 1), rate);
    }
  }

  // The codes of an autoencoder that was trained a little.
  void write_codes(const ImageOptions& options = tiny_codes()) {
    AutoencoderTask task = make(options);
    train::Learner learner(task.model(), {.ema = 0.9}, /*seed=*/1);
    train(task, learner, 0, 150);
    task.write_model(folder_ / "vq", learner.average(), 150);
    evaluation::encode_images(
        {.autoencoder = folder_ / "vq", .from = folder_ / "set", .out = folder_ / "codes"},
        at::kCPU);
  }

  test::TemporaryFolder folder_{test::quick_place()};
};

TEST_F(AutoencoderTaskTest, LearnsSmallPictures) {
  AutoencoderTask task = make();
  train::Learner learner(task.model(), {.ema = 0.9}, /*seed=*/1);
  train(task, learner, 0, 5);
  const double before = task.validate(learner.average(), 5, never).line.at("valid_psnr");
  train(task, learner, 5, 150);
  const auto found = task.validate(learner.average(), 150, never).line;
  EXPECT_GT(found.at("valid_psnr").get<double>(), before + 5);
  EXPECT_GT(found.at("valid_psnr").get<double>(), 18);
  EXPECT_GE(found.at("valid_used").get<double>(), 0.5);
  EXPECT_GT(found.at("valid_perplexity").get<double>(), 1.8) << "bright and dark at least";
}

TEST_F(AutoencoderTaskTest, IsScoredByHeldOutPictures) {
  ImageOptions options = tiny_codes();
  options.validation.shown = 4;
  AutoencoderTask task = make(options);
  const at::Tensor own = task.model().parameters().values().clone();
  const auto found = task.validate(own, 1, never), again = task.validate(own, 2, never);
  EXPECT_EQ(found.score, found.line.at("valid_psnr").get<double>());
  EXPECT_EQ(found.score, again.score);
  EXPECT_THAT(found.line.at("valid_images").get<std::string>(),
              StartsWith("data:image/png;base64,"));
  EXPECT_EQ(task.score_text(20), "PSNR 20.00 dB");
  options.reconstruction = ReconstructionScore::loss;
  const auto by_loss = make(options).validate(own, 1, never);
  EXPECT_EQ(by_loss.score, -by_loss.line.at("valid_loss").get<double>());
}

TEST_F(AutoencoderTaskTest, GoesOnBitForBit) {
  const auto options = [] {
    ImageOptions made = tiny_codes();
    made.autoencoder.quantiser.restart_every = 3;
    return made;
  }();
  AutoencoderTask whole = make(options), first = make(options), rest = make(options);
  train::Learner all(whole.model(), {}, 1), half(first.model(), {}, 1), other(rest.model(), {}, 1);
  train(whole, all, 0, 10);
  train(first, half, 0, 5);
  safetensors::save(folder_ / "training.safetensors", half.state());
  other.restore(safetensors::File(folder_ / "training.safetensors"));
  train(rest, other, 5, 10);
  const auto expected = all.state(), found = other.state();
  ASSERT_EQ(expected.size(), found.size());
  EXPECT_TRUE(expected.contains("model.codes"));
  for (const auto& [name, tensor] : expected)
    EXPECT_TRUE(at::equal(tensor, found.at(name))) << name;
}

TEST_F(AutoencoderTaskTest, ItsCodesAreLearntByAModelOfImages) {
  write_codes();
  ImageTask task(tiny_images_of_codes(), image::Dataset(folder_ / "codes"), /*seed=*/1, at::kCPU);
  train::Learner learner(task.model(), {.ema = 0.9}, /*seed=*/1);
  const double before = task.validate(learner.average(), 0, never).line.at("valid_cross_entropy");
  train(task, learner, 0, 100);
  const double after = task.validate(learner.average(), 1, never).line.at("valid_cross_entropy");
  EXPECT_LT(after, before - 0.3) << "nats";
  task.write_model(folder_ / "model", learner.average(), 100);
  const auto loaded =
      image_model::load_image_folder(folder_ / "model", at::kCPU, nn::Precision::float32);
  // Pictures are bright or dark squares, nearly.
  const at::Tensor made =
      image_model::ImageGenerator(*loaded.model, loaded.sampling).generate(0, 8);
  EXPECT_EQ(made.sizes(), (std::vector<int64_t>{8, 1, 8, 8}));
  const at::Tensor far = made.to(at::kFloat).sub(125).abs();
  EXPECT_GT(far.mean().item<double>(), 60) << "95 where they were perfect";
}

TEST_F(AutoencoderTaskTest, TurnedPicturesHaveCodesOfTheirOwn) {
  write_codes();
  const image::Dataset codes(folder_ / "codes");
  const auto model =
      image_model::load_autoencoder(folder_ / "codes" / image_model::kAutoencoderFile, at::kCPU);
  const at::Tensor turned = squares().narrow(0, 0, 40).flip(3).permute({0, 2, 3, 1});
  EXPECT_TRUE(at::equal(codes.split("train").mirrored().to(at::kLong).permute({0, 2, 3, 1}),
                        model->encode(turned)));
  // A batch has codes of either kind, never turned codes.
  ImageTask task(tiny_images_of_codes(), codes, /*seed=*/1, at::kCPU);
  const at::Tensor batch = task.batch(0, 0)[0].flatten(1);
  const at::Tensor known =
      at::cat({codes.split("train").images(), codes.split("train").mirrored()}).flatten(1);
  for (int64_t k = 0; k < batch.size(0); ++k)
    EXPECT_TRUE(known.eq(batch[k]).all(1).any().item<bool>()) << k;
}

TEST_F(AutoencoderTaskTest, RefusesWhatDoesNotFit) {
  write_codes();
  EXPECT_THAT(complaint([&] { make(tiny_codes(), "codes"); }), HasSubstr("holds codes"));
  ImageOptions pixels = tiny_images_of_codes();
  pixels.model.coding.kind = image_model::Coding::pixels;
  pixels.model.process.r = 0;
  EXPECT_THAT(complaint([&] { ImageTask(pixels, image::Dataset(folder_ / "codes"), 1, at::kCPU); }),
              HasSubstr("codes of an autoencoder have none"));
  EXPECT_THAT(complaint([&] { make().weights_of(folder_ / "codes"); }), HasSubstr("no model"));
  image::DatasetWriter writer(folder_ / "large", {});
  writer.add_split("train", image::TensorImages(at::zeros({40, 1, 16, 16}, at::kByte)),
                   at::Tensor(), 0, 40);
  writer.commit({});
  EXPECT_THAT(complaint([&] { make(tiny_codes(), "large"); }), HasSubstr("--valid N"));
  EXPECT_THAT(
      complaint([&] {
        evaluation::encode_images(
            {.autoencoder = folder_ / "vq", .from = folder_ / "large", .out = folder_ / "more"},
            at::kCPU);
      }),
      HasSubstr("16 x 16 with 1 channels, those of the autoencoder"));
  EXPECT_THAT(
      complaint([&] {
        evaluation::encode_images(
            {.autoencoder = folder_ / "vq", .from = folder_ / "codes", .out = folder_ / "more"},
            at::kCPU);
      }),
      HasSubstr("needs pixels"));
}

TEST_F(AutoencoderTaskTest, SaysWhatComesNext) {
  const AutoencoderTask task = make();
  EXPECT_EQ(task.facts()[0].value, 40);
  EXPECT_THAT(task.facts()[0].text, HasSubstr("2 x 2 codes of 4"));
  EXPECT_THAT(task.memory_hint(), HasSubstr("data.batch (now 20)"));
  EXPECT_THAT(task.next_commands("run")[1], HasSubstr("prepare --images codes --with run"));
}

}  // namespace
}  // namespace tessera::task
