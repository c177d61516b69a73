#include "image/image_source.h"

#include "image/dataset_writer.h"
#include "image/made_images.h"
#include "image/npz.h"
#include "image/png.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;
using test::made_images;
using testing::AllOf;
using testing::HasSubstr;

class ImageSourceTest : public testing::Test {
 protected:
  void save_npy(const std::string& name, const at::Tensor& array) const {
    NpyWriter writer(folder_ / name, array.scalar_type(), array.sizes().vec());
    writer.append(array);
    writer.commit();
  }

  // Expects that all images are read back, whole and in part.
  void expect_images(const std::string& name, const at::Tensor& images,
                     const std::string& split = "") const {
    const auto source = ImageSource::open(folder_ / name, split);
    ASSERT_EQ(source->size(), images.size(0)) << name;
    EXPECT_EQ(source->channels(), images.size(1)) << name;
    EXPECT_EQ(source->height(), images.size(2)) << name;
    EXPECT_EQ(source->width(), images.size(3)) << name;
    const at::Tensor all = source->read(0, source->size());
    EXPECT_TRUE(all.is_contiguous()) << name;
    EXPECT_TRUE(at::equal(all, images)) << name;
    EXPECT_TRUE(at::equal(source->read(1, 2), images.slice(0, 1, 2))) << name;
    EXPECT_EQ(source->read(1, 1).size(0), 0) << name;
    EXPECT_THROW(source->read(1, source->size() + 1), Error) << name;
    EXPECT_THROW(source->read(-1, 1), Error) << name;
  }

  std::string error(const std::string& name, const std::string& split = "") const {
    return test::complaint([&] { ImageSource::open(folder_ / name, split); });
  }

  test::TemporaryFolder folder_;
  const at::Tensor images_ = made_images({3, 3, 4, 5});
};

TEST_F(ImageSourceTest, ReadsFoldersOfPngs) {
  for (const char* place : {"pngs", "split/train", "classes/cat"}) {
    fs::create_directories(folder_ / place);
    for (int64_t k = 0; k < 3; ++k)
      write_png(folder_ / place / (std::to_string(k) + ".png"), images_[k]);
  }
  expect_images("pngs", images_);
  expect_images("classes", images_);
  expect_images("split", images_);
  expect_images("split", images_, "train");
  EXPECT_THAT(error("split", "test"), AllOf(HasSubstr("'test'"), HasSubstr("only: train")));
  EXPECT_THAT(error("pngs", "test"), HasSubstr("no splits"));
}

TEST_F(ImageSourceTest, ReadsSplitsOfADataSet) {
  DatasetWriter writer(folder_ / "set", {});
  writer.add_split("train", TensorImages(images_), {}, 0, 2);
  writer.add_split("test", TensorImages(images_), {}, 1, 3);
  writer.commit({});
  expect_images("set", images_.slice(0, 0, 2));
  expect_images("set", images_.slice(0, 1, 3), "test");
  EXPECT_THAT(error("set", "valid"), HasSubstr("test, train"));
}

TEST_F(ImageSourceTest, ReadsArraysWithChannelsFirstOrLast) {
  save_npy("first.npy", images_);
  expect_images("first.npy", images_);
  save_npy("last.npy", images_.permute({0, 2, 3, 1}));
  expect_images("last.npy", images_);
  const at::Tensor grey = made_images({2, 1, 4, 5});
  save_npy("grey.npy", grey.permute({0, 2, 3, 1}));
  expect_images("grey.npy", grey);
  save_npy("grey-first.npy", grey);
  expect_images("grey-first.npy", grey);
  EXPECT_THAT(error("grey.npy", "test"), HasSubstr("no splits"));
}

TEST_F(ImageSourceTest, FindsTheImagesAmongArrays) {
  NpzWriter writer(folder_ / "a.npz");
  writer.add("labels", at::zeros({3}, at::kLong));
  writer.add("arr_0", images_.permute({0, 2, 3, 1}));
  writer.add("weights", at::zeros({3, 3, 3, 3}));
  writer.commit();
  expect_images("a.npz", images_);
}

TEST_F(ImageSourceTest, ListsTheArraysWhereNotOneIsImages) {
  {
    NpzWriter writer(folder_ / "none.npz");
    writer.add("labels", at::zeros({3}, at::kLong));
    writer.commit();
  }
  EXPECT_THAT(error("none.npz"), AllOf(HasSubstr("none.npz"), HasSubstr("0 arrays"),
                                       HasSubstr("labels.npy (<i8 [3])")));
  NpzWriter writer(folder_ / "two.npz");
  writer.add("a", images_);
  writer.add("b", images_);
  writer.commit();
  EXPECT_THAT(error("two.npz"), AllOf(HasSubstr("2 arrays"), HasSubstr("b.npy")));
}

TEST_F(ImageSourceTest, TellsArraysThatAreNoImages) {
  save_npy("a.npy", at::zeros({2, 3, 4, 4}));
  EXPECT_THAT(error("a.npy"), AllOf(HasSubstr("a.npy"), HasSubstr("<f4"), HasSubstr("uint8")));
  save_npy("a.npy", at::zeros({2, 4, 4}, at::kByte));
  EXPECT_THAT(error("a.npy"), HasSubstr("[2, 4, 4]"));
  save_npy("a.npy", at::zeros({2, 4, 4, 4}, at::kByte));
  EXPECT_THAT(error("a.npy"), HasSubstr("channels"));
  save_npy("a.npy", at::zeros({0, 4, 4, 3}, at::kByte));
  EXPECT_THAT(error("a.npy"), HasSubstr("no images"));
  save_npy("a.npy", images_);
  std::string bytes = read_file(folder_ / "a.npy");
  bytes.replace(bytes.find("False"), 5, "True ");
  test::write_bytes(folder_ / "a.npy", bytes);
  EXPECT_THAT(error("a.npy"), HasSubstr("Fortran"));
  test::write_bytes(folder_ / "a.npy", bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(error("a.npy"), AllOf(HasSubstr("a.npy"), HasSubstr("does not fit")));
}

TEST_F(ImageSourceTest, TellsImagesThatDoNotFitTheirChecksum) {
  const fs::path path = folder_ / "images.npz";
  NpzWriter writer(path);
  writer.add("images", made_images({2, 3, 4, 4}));
  writer.commit();
  EXPECT_NO_THROW(ImageSource::open(path, ""));
  std::string bytes = read_file(path);
  bytes[250] ^= 1;  // a pixel: local header and .npy header end before
  test::write_bytes(path, bytes);
  EXPECT_THAT(error("images.npz"),
              AllOf(HasSubstr("images.npz"), HasSubstr("images.npy' is damaged: the checksum")));
}

TEST_F(ImageSourceTest, TellsCompressedArrays) {
  {
    NpzWriter writer(folder_ / "a.npz");
    writer.add("a", images_);
    writer.commit();
  }
  std::string bytes = read_file(folder_ / "a.npz");
  bytes[bytes.rfind("PK\1\2") + 10] = 8;  // the compression method
  test::write_bytes(folder_ / "a.npz", bytes);
  EXPECT_THAT(error("a.npz"), AllOf(HasSubstr("compressed"), HasSubstr("numpy.savez")));
}

TEST_F(ImageSourceTest, TellsWhatItCannotRead) {
  EXPECT_THAT(error("nowhere"), HasSubstr("nowhere"));
  test::write_bytes(folder_ / "a.jpg", "x");
  EXPECT_THAT(error("a.jpg"), AllOf(HasSubstr("a.jpg"), HasSubstr(".npy")));
  test::write_bytes(folder_ / "a.npz", "x");
  EXPECT_THAT(error("a.npz"), AllOf(HasSubstr("a.npz"), HasSubstr("zip")));
  fs::create_directory(folder_ / "empty");
  EXPECT_THAT(error("empty"), HasSubstr("no .png files"));
}

}  // namespace
}  // namespace tessera::image
