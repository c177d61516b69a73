#include "task/image_task.h"

#include "image/dataset_writer.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::task {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::HasSubstr;
using testing::StartsWith;

ImageOptions tiny_images() {
  ImageOptions options;
  options.data.batch = 4;
  options.model.network = {.width = 8, .stages = 2, .blocks = 1, .attention_side = 0};
  options.sampling.sampler.steps = 2;
  options.validation.shown = 0;
  return options;
}

// Pictures of `side` x `side` pixels: ten to train on, three held out.
void write_set(const fs::path& folder, int64_t side, bool held_out = true) {
  const at::Tensor images =
      at::arange(13 * side * side).remainder(251).view({13, 1, side, side}).to(at::kByte);
  image::DatasetWriter writer(folder, {});
  writer.add_split("train", image::TensorImages(images), at::Tensor(), 0, 10);
  if (held_out) writer.add_split("valid", image::TensorImages(images), at::Tensor(), 10, 13);
  writer.commit({});
}

class ImageTaskTest : public testing::Test {
 protected:
  ImageTaskTest() { write_set(folder_ / "set", 8); }

  ImageTask make(const ImageOptions& options = tiny_images(), const char* set = "set") const {
    return ImageTask(options, image::Dataset(folder_ / set), /*seed=*/1, at::kCPU);
  }

  test::TemporaryFolder folder_{test::quick_place()};
};

TEST_F(ImageTaskTest, BatchesAreFunctionsOfTheirNumber) {
  const ImageTask task = make(), other = make();
  EXPECT_EQ(task.batches(0), 2);
  const nn::Inputs batch = task.batch(3, 1);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].sizes(), (std::vector<int64_t>{4, 8, 8, 1}));
  EXPECT_TRUE(at::equal(batch[0], other.batch(3, 1)[0]));
  EXPECT_FALSE(at::equal(batch[0], task.batch(4, 1)[0]));
}

TEST_F(ImageTaskTest, IsScoredByTheLossOfHeldOutImages) {
  ImageTask task = make();
  const at::Tensor own = task.model().parameters().values().clone();
  const auto found = task.validate(own, 1, [] {}), again = task.validate(own, 2, [] {});
  EXPECT_EQ(found.score, -found.line.at("valid_loss").get<double>());
  EXPECT_EQ(found.score, again.score) << "the noise is the same";
  EXPECT_FALSE(found.line.contains("valid_images"));
  EXPECT_EQ(task.score_text(-1), "validation loss 1.0000");
  EXPECT_NE(task.validate(own * 2, 3, [] {}).score, found.score);
  EXPECT_TRUE(at::equal(task.model().parameters().values(), own));
}

TEST_F(ImageTaskTest, ShowsImagesWhereTheyAreAskedFor) {
  ImageOptions options = tiny_images();
  options.validation.shown = 4;
  ImageTask task = make(options);
  const auto found = task.validate(task.model().parameters().values(), 1, [] {});
  EXPECT_THAT(found.line.at("valid_images").get<std::string>(),
              StartsWith("data:image/png;base64,"));
}

TEST_F(ImageTaskTest, IsGivenUpWhenItsPauseThrows) {
  ImageTask task = make();
  const at::Tensor own = task.model().parameters().values().clone();
  struct GivenUp {};
  EXPECT_THROW(task.validate(own * 2, 1, [] { throw GivenUp(); }), GivenUp);
  EXPECT_TRUE(at::equal(task.model().parameters().values(), own));
}

TEST_F(ImageTaskTest, SaysBeforeTheTrainingWhatADistanceLacks) {
  ImageOptions options = tiny_images();
  options.validation.score = ImageScore::distance;
  EXPECT_THAT(complaint([&] { make(options); }), HasSubstr("needs train.validate_samples"));
  options.validation.samples = 1;
  EXPECT_THAT(complaint([&] { make(options); }), HasSubstr("needs train.features"));
  options.validation.features = "extractor.pt";
  EXPECT_THAT(complaint([&] { make(options); }), HasSubstr("at least 2"));
  options.validation.samples = 2;
  EXPECT_THAT(complaint([&] { make(options); }), HasSubstr("extractor.pt"));
}

TEST_F(ImageTaskTest, NeedsImagesToValidateOn) {
  write_set(folder_ / "all", 8, /*held_out=*/false);
  EXPECT_THAT(complaint([&] { make(tiny_images(), "all"); }), HasSubstr("--valid N"));
}

TEST_F(ImageTaskTest, WritesAModelThatAnotherRunCanBeginWith) {
  const ImageTask task = make();
  const at::Tensor weights = task.model().parameters().values() + 1;
  fs::create_directory(folder_ / "model");
  task.write_model(folder_ / "model", weights, 5);
  const safetensors::File file = make().weights_of(folder_ / "model");
  for (const auto& [name, tensor] : task.model().parameters().named(weights))
    EXPECT_TRUE(at::equal(file.tensor(name), tensor)) << name;

  write_set(folder_ / "large", 16);
  EXPECT_THAT(complaint([&] { make(tiny_images(), "large").weights_of(folder_ / "model"); }),
              HasSubstr("images of another size"));
  ImageOptions wide = tiny_images();
  wide.model.network.width = 16;
  EXPECT_THAT(complaint([&] { make(wide).weights_of(folder_ / "model"); }),
              HasSubstr("another model.width"));
}

TEST_F(ImageTaskTest, KnowsItsData) {
  const ImageTask task = make();
  EXPECT_EQ(task.facts()[0].value, 10);
  EXPECT_EQ(task.facts()[1].value, 2);
  EXPECT_EQ(task.unit(), "images");
  EXPECT_THAT(task.memory_hint(), HasSubstr("data.batch (now 4)"));
  EXPECT_THAT(task.next_commands("run")[0], StartsWith("tessera sample run"));
}

}  // namespace
}  // namespace tessera::task
