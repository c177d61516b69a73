#include "image/cifar10.h"

#include "image/made_images.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Cifar10 : public testing::Test {
 protected:
  std::string error() const {
    return test::complaint([&] { read_cifar10(folder_.path()); });
  }

  test::TemporaryFolder folder_;
  const at::Tensor images_ = test::write_cifar10(folder_.path(), 3);
};

TEST_F(Cifar10, ReadsBatchesAndTheirLabels) {
  const ImageSet set = read_cifar10(folder_.path());
  EXPECT_THAT(set.classes, ElementsAre("airplane", "automobile", "bird", "cat", "deer", "dog",
                                       "frog", "horse", "ship", "truck"));
  const ImageSet::Part& train = set.parts.at("train");
  ASSERT_EQ(train.images->size(), 15);
  EXPECT_TRUE(at::equal(train.images->read(0, 15), images_));
  EXPECT_TRUE(at::equal(train.images->read(2, 7), images_.slice(0, 2, 7)));
  EXPECT_THAT(test::values(train.labels.slice(0, 0, 6)), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(set.parts.at("test").images->size(), 3);
  EXPECT_FALSE(set.parts.contains("valid"));
}

TEST_F(Cifar10, TellsWhichFileIsMissing) {
  for (const char* name : {"data_batch_1.bin", "data_batch_4.bin", "test_batch.bin"}) {
    fs::rename(folder_ / name, folder_ / "away");
    EXPECT_THAT(error(), AllOf(HasSubstr(name), HasSubstr("binary version")));
    fs::rename(folder_ / "away", folder_ / name);
  }
}

TEST_F(Cifar10, TellsWhichFileIsCutOff) {
  fs::resize_file(folder_ / "data_batch_3.bin", 3 * 3073 - 1);
  EXPECT_THAT(error(), AllOf(HasSubstr("data_batch_3.bin"), HasSubstr("cut off")));
  fs::resize_file(folder_ / "data_batch_3.bin", 2 * 3073);  // between two records
  EXPECT_THAT(error(), AllOf(HasSubstr("data_batch_3.bin' has 2 images"), HasSubstr("has 3")));
  fs::resize_file(folder_ / "data_batch_3.bin", 0);
  EXPECT_THAT(error(), HasSubstr("data_batch_3.bin"));
}

TEST_F(Cifar10, TellsWhereALabelIsOutOfRange) {
  std::string bytes = read_file(folder_ / "data_batch_2.bin");
  bytes[2 * 3073] = 10;
  test::write_bytes(folder_ / "data_batch_2.bin", bytes);
  EXPECT_THAT(error(), AllOf(HasSubstr("record 2 of"), HasSubstr("data_batch_2.bin"),
                             HasSubstr("label 10")));
}

}  // namespace
}  // namespace tessera::image
