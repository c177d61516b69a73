#include <tessera/engine/image_sampler.h>

#include "files/checkpoint_manifest.h"
#include "files/files.h"
#include "image_model/image_generator.h"
#include "image_model/tiny_image_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace tessera {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
  CheckpointManifest::of_folder(folder_.path(), 10, {}).write(folder_.path());
  EXPECT_NO_THROW(sampler());
  write_file_atomically(folder_ / "config.json", read_file(folder_ / "config.json") + "\n");
  EXPECT_THROW(sampler(), Error);
}

TEST_F(ImageSamplerTest, RefusesAFolderOfAbsurdSizesBeforeAnythingIsAllocated) {
  const auto complaint_about = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    test::write_tiny_image_model(folder_.path());
    auto json = nlohmann::ordered_json::parse(read_file(folder_ / "config.json"));
    change(json);
    write_file_atomically(folder_ / "config.json", json.dump());
    return test::complaint([&] { sampler(); });
  };
  for (const char* key : {"height", "width", "channels"})
    for (const int64_t size : {int64_t{-8}, int64_t{0}, int64_t{1} << 40, INT64_MAX - 7})
      EXPECT_THAT(complaint_about([&](auto& json) { json[key] = size; }),
                  AllOf(HasSubstr("config.json"), HasSubstr("there are no images of")));
  for (const char* key : {"model.width", "model.blocks", "process.horizon", "sample.batch"})
    EXPECT_THAT(complaint_about([&](auto& json) { json["options"][key] = INT64_MAX; }),
                AllOf(HasSubstr("config.json"), HasSubstr(key), HasSubstr("in [")));
  EXPECT_THAT(complaint_about([](auto& json) { json["options"]["model.width"] = 65536; }),
              AllOf(HasSubstr("config.json"), HasSubstr("do not fit this model")));
  // The weights do not depend on the height, so they fit any.
  test::write_tiny_image_model(folder_.path());
  auto json = nlohmann::ordered_json::parse(read_file(folder_ / "config.json"));
  json["height"] = json["width"] = 1 << 15;
  json["options"]["model.attention_side"] = 1 << 14;
  write_file_atomically(folder_ / "config.json", json.dump());
  EXPECT_THAT(test::complaint([&] { sampler().sample(5000); }),
              HasSubstr("images of 32768 x 32768 pixels, 5000 at a time: that takes 14.6 TiB"));
  const auto loaded =
      image_model::load_image_folder(folder_.path(), at::kCPU, nn::Precision::float32);
  const image_model::ImageGenerator generator(*loaded.model, loaded.sampling);
  EXPECT_THAT(test::complaint([&] { generator.generate(0, 5000, {}); }),
              AllOf(HasSubstr("5000 at a time: that takes"), HasSubstr("sample.batch")));
}

}  // namespace
}  // namespace tessera
