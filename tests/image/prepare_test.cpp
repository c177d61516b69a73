#include "image/prepare.h"

#include "image/dataset.h"
#include "image/made_images.h"
#include "image/png.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class PrepareImages : public testing::Test {
 protected:
  void add_png(const std::string& name, int64_t seed = 0, at::IntArrayRef size = {1, 2, 2}) const {
    fs::create_directories((from_ / name).parent_path());
    write_png(from_ / name, test::made_images(size, seed));
  }

  PrepareOptions options(Format format, int64_t valid = 0) const {
    return {.format = format, .from = from_, .out = out_, .valid = valid};
  }

  std::string error(const PrepareOptions& options) const {
    const std::string text = test::complaint([&] { prepare(options); });
    EXPECT_FALSE(fs::exists(out_));
    return text;
  }

  test::TemporaryFolder folder_;
  const fs::path from_ = folder_ / "from", out_ = folder_ / "out";
};

TEST_F(PrepareImages, MakesADataSetOfCifar10) {
  const at::Tensor images = test::write_cifar10(from_, 2);
  const Manifest manifest = prepare(options(Format::cifar10));
  const Dataset dataset(out_);
  EXPECT_EQ(dataset.fingerprint(), manifest.fingerprint());
  EXPECT_EQ(dataset.classes().size(), 10u);
  EXPECT_TRUE(at::equal(dataset.split("train").images(), images));
  EXPECT_EQ(dataset.split("test").size(), 2);
  EXPECT_FALSE(dataset.has_split("valid"));
}

TEST_F(PrepareImages, HoldsOutTheLastTrainingImages) {
  const at::Tensor images = test::write_cifar10(from_, 2);
  prepare(options(Format::cifar10, 3));
  const Dataset dataset(out_);
  EXPECT_TRUE(at::equal(dataset.split("train").images(), images.slice(0, 0, 7)));
  EXPECT_TRUE(at::equal(dataset.split("valid").images(), images.slice(0, 7, 10)));
  EXPECT_THAT(test::values(dataset.split("valid").labels()), ElementsAre(1, 0, 1));
}

TEST_F(PrepareImages, MakesADataSetOfIdxFiles) {
  const at::Tensor images = test::write_idx(from_);
  prepare(options(Format::idx));
  const Dataset dataset(out_);
  EXPECT_EQ(dataset.channels(), 1);
  EXPECT_TRUE(at::equal(dataset.split("train").images(), images.unsqueeze(1)));
}

TEST_F(PrepareImages, MakesADataSetOfPngs) {
  for (const char* name : {"a.png", "b.png", "c.png"}) add_png(name);
  prepare(options(Format::png, 1));
  EXPECT_EQ(Dataset(out_).split("train").size(), 2);
  EXPECT_EQ(Dataset(out_).split("valid").size(), 1);
}

TEST_F(PrepareImages, LeavesNothingBehindWhereAnImageIsBroken) {
  add_png("a.png");
  add_png("b.png", 0, {1, 3, 3});
  EXPECT_THAT(error(options(Format::png)), HasSubstr("b.png"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(PrepareImages, HoldsOutNoMoreThanThereIs) {
  test::write_idx(from_);
  EXPECT_THAT(error(options(Format::idx, 4)), HasSubstr("there are 4"));
  EXPECT_THAT(error(options(Format::idx, -1)), HasSubstr("-1"));
}

TEST_F(PrepareImages, HoldsOutNothingOfPngsByClass) {
  add_png("cat/a.png");
  add_png("dog/a.png");
  EXPECT_THAT(error(options(Format::png, 1)), HasSubstr("valid/CLASS"));
}

TEST_F(PrepareImages, HoldsOutNothingWhereThereIsAValidSplit) {
  add_png("train/a.png");
  add_png("train/b.png");
  add_png("valid/a.png");
  EXPECT_THAT(error(options(Format::png, 1)), HasSubstr("--valid"));
  prepare(options(Format::png));
  EXPECT_EQ(Dataset(out_).split("valid").size(), 1);
}

TEST_F(PrepareImages, TellsAFolderThatIsMissing) {
  for (const Format format : {Format::cifar10, Format::idx, Format::png})
    EXPECT_THAT(error(options(format)), HasSubstr("no folder"));
}

}  // namespace
}  // namespace tessera::image
