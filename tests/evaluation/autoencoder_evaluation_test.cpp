#include <tessera/evaluation/autoencoder_evaluation.h>

#include "engine/image_engine.h"
#include "evaluation/image_codes.h"
#include "image/dataset_writer.h"
#include "image_metric/tiny_extractor.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/image_folder.h"
#include "image_model/tiny_autoencoder.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <tessera/engine/image_sampler.h>
#include <tessera/evaluation/image_evaluation.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::HasSubstr;

// An autoencoder of 8 x 8 pixels, a set of images, their codes, and a model of these.
class AutoencoderEvaluationTest : public testing::Test {
 protected:
  AutoencoderEvaluationTest() {
    test::write_tiny_extractor(folder_ / "tiny.pt");
    image_model::write_autoencoder_folder(folder_ / "vq", *model_, model_->parameters().values(),
                                          {});
    write_images("set", images_);
    evaluation::encode_images(
        {.autoencoder = folder_ / "vq", .from = folder_ / "set", .out = folder_ / "codes"},
        at::kCPU);
    image_model::ImageModelOptions options;
    options.coding = {.kind = image_model::Coding::symbols, .latent = 4};
    options.network = {.width = 8, .stages = 1, .blocks = 1, .attention_side = 0};
    options.self_conditioning = 0;
    const image_model::ImageModel codes(options, model_->grid(), 0, at::kCPU,
                                        nn::Precision::float32, 1, FamilyMaker(), model_);
    image_model::SamplingOptions sampling;
    sampling.sampler.steps = 3;
    image_model::write_image_folder(folder_ / "model", codes, codes.parameters().values(), {},
                                    sampling, {});
  }

  void write_images(const std::string& name, const at::Tensor& images) const {
    image::DatasetWriter writer(folder_ / name, {}, image::DatasetWriter::Existing::replace);
    writer.add_split("train", image::TensorImages(images), at::Tensor(), 0, images.size(0));
    writer.add_split("valid", image::TensorImages(images), at::Tensor(), 0, 4);
    writer.commit({});
  }

  test::TemporaryFolder folder_;
  const at::Tensor images_ = test::labels({20, 3, 8, 8}, 256, 1).to(at::kByte);
  std::shared_ptr<image_model::Autoencoder> model_ = test::tiny_autoencoder(/*channels=*/3);
};

TEST_F(AutoencoderEvaluationTest, MeasuresWhatComesBack) {
  const AutoencoderEvaluation found = evaluate_autoencoder(
      folder_ / "vq", folder_ / "set",
      {.count = 100, .features = folder_ / "tiny.pt", .shown = 2, .load = {.device = "cpu"}});
  const at::Tensor rows = images_.permute({0, 2, 3, 1});
  const at::Tensor codes = model_->encode(rows), made = model_->decode(codes);
  const double error = (made.to(at::kDouble) - rows.to(at::kDouble)).square().mean().item<double>();
  EXPECT_EQ(found.training.images, 20);
  EXPECT_NEAR(found.training.error, error, 1e-3 * error);
  EXPECT_NEAR(found.training.psnr, 10 * std::log10(255 * 255 / error), 1e-3);
  const at::Tensor counts = at::bincount(codes.flatten(), {}, 16);
  EXPECT_EQ(found.training.codes, 16);
  EXPECT_EQ(found.training.codes_used, counts.gt(0).sum().item<int64_t>());
  const at::Tensor shares = counts.to(at::kDouble) / counts.sum();
  EXPECT_NEAR(found.training.perplexity, at::xlogy(shares, shares).sum().neg().exp().item<double>(),
              1e-3);
  ASSERT_TRUE(found.training.distance);
  EXPECT_GT(*found.training.distance, 0);
  EXPECT_EQ(found.held_out.images, 4);
  EXPECT_FALSE(found.held_out.distance);
  EXPECT_TRUE(at::equal(engine::to_pictures(found.pairs)[2], images_[1]));
}

TEST_F(AutoencoderEvaluationTest, ItIsTheFloorOfAModelOfItsCodes) {
  const Engine engine(folder_ / "model", {.device = "cpu"});
  // The codes stand for the images they were made from.
  const ImageEvaluation found = evaluate_images(
      engine, folder_ / "codes", {.count = 12, .features = folder_ / "tiny.pt", .nearest = true});
  const AutoencoderEvaluation alone = evaluate_autoencoder(
      folder_ / "vq", folder_ / "codes",
      {.count = 12, .features = folder_ / "tiny.pt", .load = {.device = "cpu"}});
  ASSERT_TRUE(found.floor);
  EXPECT_EQ(found.floor->images, 12);
  EXPECT_EQ(found.floor->distance, alone.training.distance);
  EXPECT_EQ(found.floor->psnr, alone.training.psnr);
  EXPECT_NE(found.distance, *found.floor->distance);
}

TEST_F(AutoencoderEvaluationTest, AModelOfCodesMakesPixelsWithoutFurtherOptions) {
  fs::rename(folder_ / "vq", folder_ / "far");
  fs::rename(folder_ / "codes", folder_ / "elsewhere");
  const ImageSampler sampler(folder_ / "model", {.device = "cpu"});
  const Images images = sampler.sample(3);
  EXPECT_EQ(images.channels, 3);
  EXPECT_EQ(images.height, 8);
  EXPECT_EQ(images.values.size(), 3u * 8 * 8 * 3);
}

TEST_F(AutoencoderEvaluationTest, CodesKnowTheirImages) {
  EXPECT_EQ(evaluation::images_behind(folder_ / "codes").fingerprint(),
            image::Dataset(folder_ / "set").fingerprint());
  write_images("set", images_.flip(2));
  EXPECT_THAT(complaint([&] { evaluation::images_behind(folder_ / "codes"); }),
              HasSubstr("are not those"));
  fs::rename(folder_ / "set", folder_ / "moved");
  EXPECT_THAT(complaint([&] { evaluation::images_behind(folder_ / "codes"); }),
              testing::AllOf(HasSubstr("are not in"), HasSubstr("--data DIR")));
}

}  // namespace
}  // namespace tessera
