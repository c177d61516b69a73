#include "image/idx.h"

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
using test::big_endian;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Idx : public testing::Test {
 protected:
  std::string error() const {
    return test::complaint([&] { read_idx(folder_.path()); });
  }
  void rewrite(const std::string& name, const std::string& bytes) const {
    test::write_bytes(folder_ / name, bytes);
  }

  test::TemporaryFolder folder_;
  const at::Tensor images_ = test::write_idx(folder_.path());
};

TEST_F(Idx, ReadsImagesAndLabels) {
  const ImageSet set = read_idx(folder_.path());
  EXPECT_THAT(set.classes, ElementsAre("0", "1", "2"));
  const ImageSet::Part& train = set.parts.at("train");
  EXPECT_TRUE(at::equal(train.images->read(0, 4), images_.unsqueeze(1)));
  EXPECT_THAT(test::values(train.labels), ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(test::values(set.parts.at("test").labels), ElementsAre(2, 0));
}

TEST_F(Idx, ReadsCompressedFiles) {
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}) {
    rewrite(std::string(name) + ".gz", test::gzipped(read_file(folder_ / name)));
    fs::remove(folder_ / name);
  }
  const ImageSet set = read_idx(folder_.path());
  EXPECT_TRUE(at::equal(set.parts.at("train").images->read(0, 4), images_.unsqueeze(1)));
}

TEST_F(Idx, TellsWhichFileIsMissing) {
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    fs::rename(folder_ / name, folder_ / "away");
    EXPECT_THAT(error(), AllOf(HasSubstr(name), HasSubstr(".gz")));
    fs::rename(folder_ / "away", folder_ / name);
  }
}

TEST_F(Idx, TellsAWrongMagicNumber) {
  rewrite("train-images-idx3-ubyte", test::idx_labels("\1\1"));
  EXPECT_THAT(error(), AllOf(HasSubstr("train-images-idx3-ubyte' is not an idx file of images"),
                             HasSubstr("0x00000801, not 0x00000803")));
  test::write_idx(folder_.path());
  rewrite("t10k-labels-idx1-ubyte", "PK\3\4 and more");
  EXPECT_THAT(error(), AllOf(HasSubstr("t10k-labels"), HasSubstr("of labels")));
}

TEST_F(Idx, TellsFilesThatAreCutOffOrGrown) {
  const std::string whole = read_file(folder_ / "train-images-idx3-ubyte");
  for (const size_t size : {size_t{0}, size_t{3}, size_t{10}, size_t{16}, whole.size() - 1}) {
    rewrite("train-images-idx3-ubyte", whole.substr(0, size));
    EXPECT_THAT(error(), AllOf(HasSubstr("train-images"), HasSubstr("cut off"))) << size;
  }
  rewrite("train-images-idx3-ubyte", whole + 'x');
  EXPECT_THAT(error(), AllOf(HasSubstr("train-images"), HasSubstr("more in it")));
  fs::remove(folder_ / "train-images-idx3-ubyte");
  const std::string packed = test::gzipped(whole);
  rewrite("train-images-idx3-ubyte.gz", packed.substr(0, packed.size() - 9));
  EXPECT_THAT(error(), AllOf(HasSubstr("train-images-idx3-ubyte.gz"), HasSubstr("too early")));
}

TEST_F(Idx, RefusesHeadersThatCannotBe) {
  rewrite("train-images-idx3-ubyte",
          big_endian(0x0803) + big_endian(~0U) + big_endian(~0U) + big_endian(~0U));
  EXPECT_THAT(error(), AllOf(HasSubstr("train-images"), HasSubstr("damaged")));
  rewrite("train-images-idx3-ubyte",
          big_endian(0x0803) + big_endian(0) + big_endian(2) + big_endian(3));
  EXPECT_THAT(error(), AllOf(HasSubstr("train-images"), HasSubstr("empty")));
}

TEST_F(Idx, AsksForNoMoreMemoryThanTheFileCanFill) {
  // 16 bytes that announce 16 GiB.
  rewrite("train-images-idx3-ubyte",
          big_endian(0x0803) + big_endian(1 << 14) + big_endian(1 << 10) + big_endian(1 << 10));
  EXPECT_THAT(error(),
              AllOf(HasSubstr("train-images"), HasSubstr("17179869184 bytes are missing")));
  fs::remove(folder_ / "train-images-idx3-ubyte");
  rewrite("train-images-idx3-ubyte.gz", test::gzipped(big_endian(0x0803) + big_endian(1 << 14) +
                                                      big_endian(1 << 10) + big_endian(1 << 10)));
  EXPECT_THAT(error(), AllOf(HasSubstr(".gz"), HasSubstr("17179869184 bytes are missing")));
}

TEST_F(Idx, TellsDifferentCountsOfImagesAndLabels) {
  rewrite("train-labels-idx1-ubyte", test::idx_labels("\1\1\1"));
  EXPECT_THAT(error(), AllOf(HasSubstr("train-images-idx3-ubyte' has 4 images"),
                             HasSubstr("train-labels-idx1-ubyte' 3 labels")));
}

TEST_F(Idx, TellsLabelsThatTrainingDoesNotHave) {
  rewrite("t10k-labels-idx1-ubyte", test::idx_labels("\1\3"));
  EXPECT_THAT(error(), AllOf(HasSubstr("t10k-labels"), HasSubstr("label 3")));
}

TEST_F(Idx, TellsDifferentSizesOfTrainingAndTest) {
  rewrite("t10k-images-idx3-ubyte", test::idx_images(test::made_images({2, 3, 3})));
  EXPECT_THAT(error(), AllOf(HasSubstr("are 3 x 2"), HasSubstr("3 x 3")));
}

}  // namespace
}  // namespace tessera::image
