#include <tessera/evaluation/image_evaluation.h>

#include "engine/image_engine.h"
#include "image/dataset_writer.h"
#include "image_metric/extractor.h"
#include "image_metric/frechet.h"
#include "image_metric/kernel_distance.h"
#include "image_metric/moments.h"
#include "image_metric/tiny_extractor.h"
#include "image_model/tiny_image_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace tessera {
namespace {

using testing::HasSubstr;

constexpr int64_t kCount = 12;
const SampleOptions kFew{.steps = 3, .batch = 5};

class ImageEvaluationTest : public testing::Test {
 protected:
  ImageEvaluationTest() {
    test::write_tiny_image_model(folder_ / "model");
    test::write_tiny_extractor(folder_ / "tiny.pt");
    engine_.emplace(folder_ / "model", LoadOptions{.device = "cpu"});
    const ImageRequest request{.count = kCount, .seed = 7, .options = kFew};
    made_ = engine::to_pictures(engine_->run(std::span(&request, 1))[0].images);
    write_images("set", training_);
  }

  //   training  [n, C, H, W]; the first four images are held out as well
  void write_images(const std::string& name, const at::Tensor& training) const {
    image::DatasetWriter writer(folder_ / name, {});
    writer.add_split("train", image::TensorImages(training), at::Tensor(), 0, training.size(0));
    writer.add_split("valid", image::TensorImages(training), at::Tensor(), 0, 4);
    writer.commit({});
  }

  ImageEvaluationOptions options() const {
    return {.count = kCount, .features = folder_ / "tiny.pt", .sampling = kFew, .seed = 7};
  }
  ImageEvaluation evaluate(const ImageEvaluationOptions& options,
                           const std::string& set = "set") const {
    return evaluate_images(*engine_, folder_ / set, options);
  }

  test::TemporaryFolder folder_;
  std::optional<Engine> engine_;
  const at::Tensor training_ = test::labels({20, 3, 8, 8}, 256, 1).to(at::kByte);
  at::Tensor made_;  // what the model makes
};

TEST_F(ImageEvaluationTest, MeasuresTheDistanceOfTheImagesTheEngineMakes) {
  ImageEvaluationOptions asked = options();
  std::vector<at::Tensor> seen;
  asked.take = [&](const Images& some) { seen.push_back(engine::to_pictures(some)); };
  const ImageEvaluation found = evaluate(asked);
  EXPECT_TRUE(at::equal(at::cat(seen), made_));
  const image_metric::Extractor extractor(folder_ / "tiny.pt");
  image_metric::Moments ours, real;
  ours.add(extractor.features(made_));
  real.add(extractor.features(training_));
  const double expected = image_metric::frechet_distance(ours.gaussian(), real.gaussian());
  EXPECT_NEAR(found.distance, expected, 1e-6 * expected);
  EXPECT_EQ(found.distance_name, "FD-tiny");
  EXPECT_EQ(found.extractor, "tiny.pt");
  EXPECT_EQ(found.extractor_hash, extractor.short_hash());
  EXPECT_EQ(found.images, kCount);
  EXPECT_EQ(found.nfe, 4) << "3 steps and the final call";
  EXPECT_EQ(found.options.steps, 3);
  EXPECT_GT(found.images_per_second(), 0);
  EXPECT_FALSE(found.kernel);
  EXPECT_FALSE(found.nearest);
}

TEST_F(ImageEvaluationTest, RecognisesWhatAClassifierIsSureOf) {
  const ImageEvaluation found = evaluate(options());
  ASSERT_TRUE(found.recognition);
  // The tiny classifier picks the brightest colour.
  const auto [confidence, label] = made_.to(at::kFloat).mean({2, 3}).softmax(1).max(1);
  const at::Tensor sure = confidence.gt(found.recognition->confidence);
  EXPECT_DOUBLE_EQ(found.recognition->share, sure.to(at::kDouble).mean().item<double>());
  ASSERT_EQ(found.recognition->by_class.size(), 3u);
  for (int64_t k = 0; k < 3; ++k)
    EXPECT_DOUBLE_EQ(found.recognition->by_class[static_cast<size_t>(k)],
                     sure.logical_and(label.eq(k)).to(at::kDouble).mean().item<double>());
}

TEST_F(ImageEvaluationTest, MeasuresTheKernelDistanceWhereAsked) {
  ImageEvaluationOptions asked = options();
  asked.kernel = true;
  const ImageEvaluation found = evaluate(asked);
  const image_metric::Extractor extractor(folder_ / "tiny.pt");
  const image_metric::KernelDistance expected = image_metric::kernel_distance(
      extractor.features(made_), extractor.features(training_.narrow(0, 0, kCount)), {.seed = 7});
  ASSERT_TRUE(found.kernel);
  EXPECT_EQ(found.kernel->name, "KD-tiny");
  EXPECT_NEAR(found.kernel->mean, expected.mean, 1e-4 * std::abs(expected.mean));
  EXPECT_EQ(found.kernel->subset_size, kCount);
  EXPECT_THAT(found.warnings, testing::Contains(HasSubstr("subsets of 12 images")));
}

TEST_F(ImageEvaluationTest, FindsImagesThatWereLearntByHeart) {
  ImageEvaluationOptions asked = options();
  asked.nearest = true;
  EXPECT_GT(evaluate(asked).nearest->made, 1);
  write_images("copied", at::cat({training_, made_}));
  const ImageEvaluation found = evaluate(asked, "copied");
  ASSERT_TRUE(found.nearest);
  EXPECT_EQ(found.nearest->made, 0);
  EXPECT_EQ(found.nearest->held_out, 0) << "the first four are";
  const Images& pairs = found.nearest->pairs;
  ASSERT_EQ(pairs.count, 2 * 5) << "of the first batch";
  const at::Tensor pictures = engine::to_pictures(pairs).view({5, 2, 3, 8, 8});
  EXPECT_TRUE(at::equal(pictures.select(1, 0), made_.narrow(0, 0, 5)));
  EXPECT_TRUE(at::equal(pictures.select(1, 1), made_.narrow(0, 0, 5)));
}

TEST_F(ImageEvaluationTest, KeepsStatisticsOfTheTrainingImages) {
  ImageEvaluationOptions asked = options();
  asked.statistics = folder_ / "s.safetensors";
  const double first = evaluate(asked).distance;
  EXPECT_TRUE(std::filesystem::exists(asked.statistics));
  EXPECT_NEAR(evaluate(asked).distance, first, 1e-6 * first);
  write_images("other", training_.flip(0).bitwise_not());
  EXPECT_THAT(test::complaint([&] { evaluate(asked, "other"); }), HasSubstr("of other images"));
}

TEST_F(ImageEvaluationTest, MakesImagesOfOneClassWhereAsked) {
  ImageEvaluationOptions asked = options();
  const double both = evaluate(asked).distance;
  asked.label = "dog";
  EXPECT_NE(evaluate(asked).distance, both);
  asked.label = "cow";
  EXPECT_THROW(evaluate(asked), UsageError);
}

TEST_F(ImageEvaluationTest, SaysWhatIsWrongAndCanBeStopped) {
  ImageEvaluationOptions asked = options();
  asked.features.clear();
  EXPECT_THROW(evaluate(asked), UsageError);
  asked = options();
  asked.count = 1;
  EXPECT_THROW(evaluate(asked), UsageError);
  write_images("small", training_.narrow(2, 0, 4).contiguous());
  EXPECT_THAT(test::complaint([&] { evaluate(options(), "small"); }), HasSubstr("another size"));
  asked = options();
  std::stop_source stop;
  asked.stop = stop.get_token();
  asked.take = [&](const Images&) { stop.request_stop(); };
  EXPECT_THAT(test::complaint([&] { evaluate(asked); }), HasSubstr("stopped"));
}

}  // namespace
}  // namespace tessera
