#include "image_metric/statistics.h"
#include "base/numerals.h"

#include "image_metric/distance_name.h"
#include "image_metric/moments.h"
#include "image_metric/sample_warning.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <tessera/files/safetensors.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tessera::image_metric {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class StatisticsTest : public testing::Test {
 protected:
  static Statistics made(uint64_t seed) {
    Moments moments;
    moments.add(test::normal({40, 6}, seed));
    return {moments.gaussian(),     moments.count(), "tiny.pt",
            "0123456789abcdef0123", "40 numbers",    "fingerprint"};
  }
  std::string complaint(const safetensors::Tensors& tensors, const std::string& prefix = "") const {
    safetensors::save(file_, tensors);
    return test::complaint([&] { load_statistics(file_, prefix); });
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "set.safetensors";
  const at::Tensor mu_ = at::zeros({3}, at::kDouble), sigma_ = at::eye(3, at::kDouble),
                   count_ = at::full({1}, 100, at::kLong);
};

TEST_F(StatisticsTest, AreReadAsTheyWereWritten) {
  const Statistics before = made(1);
  save_statistics(file_, before);
  const Statistics after = load_statistics(file_);
  EXPECT_TRUE(at::equal(after.gaussian.mean, before.gaussian.mean));
  EXPECT_TRUE(at::equal(after.gaussian.covariance, before.gaussian.covariance));
  EXPECT_EQ(after.count, 40);
  EXPECT_EQ(after.extractor, "tiny.pt");
  EXPECT_EQ(after.extractor_hash, "0123456789abcdef0123");
  EXPECT_EQ(after.source, "40 numbers");
  EXPECT_EQ(after.data, "fingerprint");
}

TEST_F(StatisticsTest, OfSeveralSetsAreChosenByName) {
  const Statistics train = made(1), test = made(2);
  safetensors::save(file_, {{"mu_train", train.gaussian.mean},
                            {"sigma_train", train.gaussian.covariance},
                            {"n_train", count_},
                            {"test.mu", test.gaussian.mean},
                            {"test.sigma", test.gaussian.covariance},
                            {"test.count", count_}});
  EXPECT_TRUE(at::equal(load_statistics(file_, "train").gaussian.mean, train.gaussian.mean));
  EXPECT_TRUE(at::equal(load_statistics(file_, "test").gaussian.mean, test.gaussian.mean));
  EXPECT_EQ(load_statistics(file_, "train").count, 100);
  for (const char* wrong : {"", "valid"})
    EXPECT_THAT(test::complaint([&] { load_statistics(file_, wrong); }),
                AllOf(HasSubstr("set.safetensors"), HasSubstr("--prefix: test, train")));
}

TEST_F(StatisticsTest, CanBeAskedFor) {
  safetensors::save(file_, {{"mu_train", mu_}});
  EXPECT_TRUE(has_statistics(file_, "train"));
  EXPECT_FALSE(has_statistics(file_, "test"));
  EXPECT_FALSE(has_statistics(file_, ""));
}

TEST_F(StatisticsTest, OfTheOnlySetNeedNoName) {
  safetensors::save(file_, {{"mu_train", mu_}, {"sigma_train", sigma_}, {"n_train", count_}});
  EXPECT_EQ(load_statistics(file_).count, 100);
}

TEST_F(StatisticsTest, MayBeInFloat32) {
  safetensors::save(file_, {{"mu", mu_.to(at::kFloat)},
                            {"sigma", sigma_.to(at::kFloat)},
                            {"count", count_.to(at::kInt)}});
  EXPECT_EQ(load_statistics(file_).gaussian.covariance.scalar_type(), at::kDouble);
}

TEST_F(StatisticsTest, ThatAreBrokenAreRefused) {
  EXPECT_THAT(complaint({{"weight", mu_}}), HasSubstr("holds no statistics"));
  EXPECT_THAT(complaint({{"mu", mu_}, {"sigma", sigma_}, {"count", count_}}, "train"),
              AllOf(HasSubstr("no statistics of 'train'"), HasSubstr("leave --prefix out")));
  EXPECT_THAT(complaint({{"mu", mu_}, {"count", count_}}), HasSubstr("has no 'sigma'"));
  EXPECT_THAT(complaint({{"mu", mu_}, {"sigma", sigma_}}), HasSubstr("has no 'count'"));
  EXPECT_THAT(complaint({{"mu", mu_}, {"sigma", sigma_.slice(0, 0, 2)}, {"count", count_}}),
              HasSubstr("sigma must be [3, 3] as mu says, got [2, 3]"));
  EXPECT_THAT(
      complaint(
          {{"mu", mu_}, {"sigma", sigma_.triu() + at::ones({3, 3}).triu(1)}, {"count", count_}}),
      HasSubstr("not symmetric"));
  EXPECT_THAT(complaint({{"mu", mu_ / 0.0}, {"sigma", sigma_}, {"count", count_}}),
              HasSubstr("mu contains NaN"));
  EXPECT_THAT(complaint({{"mu", mu_}, {"sigma", sigma_}, {"count", count_ - 99}}),
              HasSubstr("covariance needs at least 2 images, not 1"));
}

TEST_F(StatisticsTest, OfDifferentExtractorsAreNotCompared) {
  const Statistics ours = made(1);
  Statistics other = made(2);
  require_same_extractor(ours, "a", other, "b");
  other.extractor = "renamed.pt";
  require_same_extractor(ours, "a", other, "b");
  other.extractor_hash = "";
  EXPECT_THAT(test::complaint([&] { require_same_extractor(ours, "a", other, "b"); }),
              AllOf(HasSubstr("different extractors"), HasSubstr("renamed.pt")));
  other.extractor = "";
  require_same_extractor(ours, "a", other, "b");
  other.extractor_hash = "fedc";
  EXPECT_THAT(test::complaint([&] { require_same_extractor(ours, "a", other, "b"); }),
              HasSubstr("0123456789abcdef)"));
}

TEST(SampleWarning, ComesWithTooFewSamplesOnly) {
  EXPECT_EQ(sample_warning("samples", 385, 384), std::nullopt);
  EXPECT_THAT(sample_warning("samples", 384, 384).value_or(""),
              HasSubstr("samples has 384 samples for 384 features: its covariance is singular"));
}

TEST(DistanceName, SaysInceptionOnlyWhereItIs) {
  EXPECT_EQ(frechet_name("models/cifar10-resnet.pt"), "FD-ResNet");
  EXPECT_EQ(kernel_name("cifar10-resnet.pt"), "KD-ResNet");
  EXPECT_EQ(frechet_name("Inception-2015.pt"), "FID");
  EXPECT_EQ(kernel_name("Inception-2015.pt"), "KID");
  EXPECT_EQ(frechet_name("inception/resnet.pt"), "FD-ResNet") << "the folder's name says nothing";
  EXPECT_EQ(frechet_name("fashion.pt"), "FD-fashion");
  EXPECT_EQ(frechet_name("inception-resnet-v2.pt"), "FD-ResNet") << "another network";
  EXPECT_EQ(frechet_name(""), "FD");
}

}  // namespace
}  // namespace tessera::image_metric
