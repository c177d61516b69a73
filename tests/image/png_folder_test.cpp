#include "image/png_folder.h"
#include "base/numerals.h"

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
using test::made_images;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PngFolder : public testing::Test {
 protected:
  at::Tensor add(const std::string& name, int64_t seed, at::IntArrayRef size = {3, 4, 5}) const {
    fs::create_directories((folder_ / name).parent_path());
    at::Tensor picture = made_images(size, seed);
    write_png(folder_ / name, picture);
    return picture;
  }

  // What is wrong with the folder or an image in it.
  std::string error() const {
    return test::complaint([&] {
      for (const auto& [name, part] : read_png_folder(folder_.path()).parts)
        part.images->read(0, part.images->size());
    });
  }

  test::TemporaryFolder folder_;
};

TEST_F(PngFolder, HasItsImagesInTheOrderOfTheirNames) {
  const at::Tensor b = add("b.png", 1), a = add("a.PNG", 2), c = add("c.png", 3);
  const ImageSet set = read_png_folder(folder_.path());
  EXPECT_THAT(set.classes, IsEmpty());
  ASSERT_EQ(set.parts.size(), 1u);
  const ImageSet::Part& train = set.parts.at("train");
  EXPECT_FALSE(train.labels.defined());
  EXPECT_TRUE(at::equal(train.images->read(0, 3), at::stack({a, b, c})));
  EXPECT_TRUE(at::equal(train.images->read(1, 2), b.unsqueeze(0)));
  EXPECT_FALSE(has_png_splits(folder_.path()));
}

TEST_F(PngFolder, TakesItsFoldersAsClasses) {
  const at::Tensor dog = add("dog/1.png", 1), cat = add("cat/1.png", 2), cat2 = add("cat/2.png", 3);
  const ImageSet set = read_png_folder(folder_.path());
  EXPECT_THAT(set.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(test::values(set.parts.at("train").labels), ElementsAre(0, 0, 1));
  EXPECT_TRUE(at::equal(set.parts.at("train").images->read(0, 3), at::stack({cat, cat2, dog})));
}

TEST_F(PngFolder, TakesTrainValidAndTestAsSplits) {
  add("train/cat/1.png", 1);
  add("train/dog/1.png", 2);
  add("valid/dog/1.png", 3);
  add("test/eel/1.png", 4);
  const ImageSet set = read_png_folder(folder_.path());
  EXPECT_THAT(set.classes, ElementsAre("cat", "dog", "eel"));
  EXPECT_THAT(test::values(set.parts.at("train").labels), ElementsAre(0, 1));
  EXPECT_THAT(test::values(set.parts.at("valid").labels), ElementsAre(1));
  EXPECT_THAT(test::values(set.parts.at("test").labels), ElementsAre(2));
  EXPECT_TRUE(has_png_splits(folder_.path()));
}

TEST_F(PngFolder, NamesTwoFilesOfDifferentSizes) {
  add("a.png", 1);
  add("b.png", 2, {3, 4, 6});
  EXPECT_THAT(error(), AllOf(HasSubstr("a.png' is 5 x 4 RGB"), HasSubstr("b.png' is 6 x 4 RGB")));
  add("b.png", 2, {1, 4, 5});
  EXPECT_THAT(error(), HasSubstr("b.png' is 5 x 4 grey"));
}

TEST_F(PngFolder, NamesThemAcrossSplitsToo) {
  add("train/a.png", 1);
  add("test/b.png", 2, {3, 1, 1});
  EXPECT_THAT(error(), AllOf(HasSubstr("train/a.png'"), HasSubstr("test/b.png'")));
}

TEST_F(PngFolder, NamesFilesThatItCannotTake) {
  add("a.png", 1);
  test::write_bytes(folder_ / "b.png", "no picture");
  EXPECT_THAT(error(), HasSubstr("b.png' is not a PNG"));
  test::write_bytes(folder_ / "b.png",
                    test::MadePng{.bit_depth = 16, .rows = std::string(3, '\0')}.bytes());
  EXPECT_THAT(error(), HasSubstr("b.png' is 16-bit"));
}

TEST_F(PngFolder, SaysWhatItLeavesOut) {
  add("a.png", 1);
  test::write_bytes(folder_ / "b.jpg", "x");
  test::write_bytes(folder_ / ".hidden", "x");
  EXPECT_THAT(test::said([&] { read_png_folder(folder_.path()); }),
              AllOf(HasSubstr("1 file in"), HasSubstr(".png")));
}

TEST_F(PngFolder, TellsFoldersThatAreEmptyOrMissing) {
  EXPECT_THAT(error(), AllOf(HasSubstr("no .png files"), HasSubstr(folder_.path().string())));
  fs::create_directory(folder_ / "cat");
  EXPECT_THAT(error(), AllOf(HasSubstr("no .png files"), HasSubstr("cat")));
  fs::create_directory(folder_ / "test");
  fs::remove(folder_ / "cat");
  EXPECT_THAT(error(), HasSubstr("/test'"));
  EXPECT_THAT(test::complaint([&] { read_png_folder(folder_ / "none"); }), HasSubstr("none"));
}

TEST_F(PngFolder, RefusesLayoutsThatCouldMeanTwoThings) {
  add("a.png", 1);
  add("cat/a.png", 1);
  EXPECT_THAT(error(), AllOf(HasSubstr("holds images ('a.png') and folders ('cat')")));
  fs::remove(folder_ / "a.png");
  add("train/a.png", 1);
  EXPECT_THAT(error(), AllOf(HasSubstr("cat' lies beside the split 'train'")));
  fs::rename(folder_ / "cat", folder_ / "test");
  fs::create_directory(folder_ / "test/cat");
  fs::rename(folder_ / "test/a.png", folder_ / "test/cat/a.png");
  EXPECT_THAT(error(), HasSubstr("some splits"));
}

}  // namespace
}  // namespace tessera::image
