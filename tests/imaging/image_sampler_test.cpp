#include <tessera/imaging/image_sampler.h>

#include "base/files.h"
#include "imaging/tiny_image_model.h"
#include "support/temporary_folder.h"
#include "train/manifest.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

namespace tessera {
namespace {

class ImageSamplerTest : public testing::Test {
 protected:
  ImageSamplerTest() { test::write_tiny_image_model(folder_.path()); }

  ImageSampler sampler(const ImageSamplerOptions& options = {.device = "cpu", .steps = 3}) const {
    return ImageSampler(folder_.path(), options);
  }
  test::TemporaryFolder folder_;
};

TEST_F(ImageSamplerTest, MakesImagesOfTheModelsSize) {
  const Images images = sampler().sample(3);
  EXPECT_EQ(images.count, 3);
  EXPECT_EQ(images.height, 8);
  EXPECT_EQ(images.width, 8);
  EXPECT_EQ(images.channels, 3);
  EXPECT_EQ(images.values.size(), size_t{3 * 8 * 8 * 3});
  EXPECT_EQ(images.image(2), images.values.data() + 2 * 8 * 8 * 3);
}

TEST_F(ImageSamplerTest, AnImageIsAFunctionOfSeedAndNumber) {
  const ImageSampler one = sampler();
  const Images all = one.sample(4), last = one.sample(1, /*first=*/3);
  EXPECT_TRUE(std::equal(last.values.begin(), last.values.end(), all.image(3)));
  EXPECT_EQ(sampler().sample(4).values, all.values);
  EXPECT_NE(sampler({.device = "cpu", .steps = 3, .seed = 2}).sample(4).values, all.values);
}

TEST_F(ImageSamplerTest, MakesAClassByNameOrNumber) {
  const ImageSampler one = sampler();
  EXPECT_EQ(one.classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(one.sample(2, 0, "dog").values, one.sample(2, 0, "1").values);
  EXPECT_NE(one.sample(2, 0, "dog").values, one.sample(2, 0, "cat").values);
  EXPECT_THROW(one.sample(2, 0, "cow"), UsageError);
}

TEST_F(ImageSamplerTest, RefusesOptionsThatDoNotFitTheModel) {
  const test::TemporaryFolder plain;
  test::write_tiny_image_model(plain.path(), /*conditional=*/false);
  const ImageSampler untold(plain.path(), {.device = "cpu", .steps = 3});
  EXPECT_TRUE(untold.classes().empty());
  EXPECT_THROW(untold.sample(1, 0, "cat"), UsageError);
  EXPECT_THROW(ImageSampler(plain.path(), {.device = "cpu", .guidance = 2}), UsageError);
}

TEST_F(ImageSamplerTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(sampler({.device = "cpu", .r = 1.5}), UsageError);
  EXPECT_THROW(sampler({.device = "cpu", .guidance = -1}), UsageError);
  EXPECT_THROW(sampler({.device = "cpu", .batch = 0}), UsageError);
  EXPECT_THROW(sampler().sample(-1), UsageError);
  EXPECT_THROW(ImageSampler("no-such-folder"), Error);
}

TEST_F(ImageSamplerTest, RefusesACheckpointWhoseConfigurationWasChanged) {
  train::Manifest::of_folder(folder_.path(), 10, {}).write(folder_.path());
  EXPECT_NO_THROW(sampler());
  write_file_atomically(folder_ / "config.json", read_file(folder_ / "config.json") + "\n");
  EXPECT_THROW(sampler(), Error);
}

}  // namespace
}  // namespace tessera
