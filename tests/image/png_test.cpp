#include "image/png.h"

#include "image/made_images.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera::image {
namespace {

using test::complaint;
using test::made_images;
using test::MadePng;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// What is wrong with a PNG.
std::string error(const std::string& bytes) {
  return complaint([&] { decode_png(bytes, "x.png"); });
}

TEST(Png, GivesBackWhatWasWritten) {
  const test::TemporaryFolder folder;
  for (const int64_t channels : {1, 3}) {
    const at::Tensor picture = made_images({channels, 5, 7});
    write_png(folder / "a.png", picture);
    const at::Tensor read = read_png(folder / "a.png");
    EXPECT_EQ(read.scalar_type(), at::kByte);
    EXPECT_TRUE(read.is_contiguous());
    EXPECT_TRUE(at::equal(read, picture));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Png, WritesPicturesOfAnyStrides) {
  const at::Tensor picture = made_images({4, 6, 3}).permute({2, 0, 1});
  EXPECT_TRUE(at::equal(decode_png(encode_png(picture), "x"), picture));
}

TEST(Png, ReadsAPictureOfKnownBytes) {
  const at::Tensor read =
      decode_png(MadePng{.width = 2,
                         .height = 2,
                         .colour_type = 2,
                         .rows = std::string("\0\1\2\3\4\5\6\0\7\10\11\12\13\14", 14)}
                     .bytes(),
                 "x");
  const at::Tensor pixels = at::arange(1, 13, at::kByte).reshape({2, 2, 3});
  EXPECT_TRUE(at::equal(read, pixels.permute({2, 0, 1})));
}

TEST(Png, ReadsInterlacedPictures) {
  // The passes of a 2 x 2 picture: the first pixel, the second, the second row.
  const MadePng png{
      .width = 2, .height = 2, .interlaced = true, .rows = std::string("\0\1\0\2\0\3\4", 7)};
  EXPECT_TRUE(
      at::equal(decode_png(png.bytes(), "x"), at::arange(1, 5, at::kByte).reshape({1, 2, 2})));
}

TEST(Png, WidensGreyOfFewBits) {
  const MadePng png{.width = 4, .bit_depth = 2, .rows = std::string("\0\x1b", 2)};
  EXPECT_TRUE(at::equal(decode_png(png.bytes(), "x"),
                        at::tensor({0, 85, 170, 255}, at::kByte).reshape({1, 1, 4})));
}

TEST(Png, DoesNotApplyGamma) {
  std::string bytes = MadePng{.rows = std::string("\0\x50", 2)}.bytes();
  bytes.insert(33, MadePng::chunk("gAMA", test::big_endian(100000)));  // after IHDR: linear light
  EXPECT_EQ(decode_png(bytes, "x").item<int64_t>(), 0x50);
}

TEST(Png, RefusesWhatIsNot8BitGreyOrRgb) {
  EXPECT_THAT(error(MadePng{.bit_depth = 16, .rows = std::string(3, '\0')}.bytes()),
              AllOf(HasSubstr("'x.png' is 16-bit"), HasSubstr("convert")));
  EXPECT_THAT(
      error(MadePng{.colour_type = 3, .rows = std::string(2, '\0'), .palette = "rgb"}.bytes()),
      HasSubstr("'x.png' is paletted"));
  EXPECT_THAT(error(MadePng{.colour_type = 6, .rows = std::string(5, '\0')}.bytes()),
              HasSubstr("'x.png' is with an alpha channel"));
  EXPECT_THAT(error(MadePng{.colour_type = 4, .rows = std::string(3, '\0')}.bytes()),
              HasSubstr("alpha"));
  EXPECT_THAT(
      error(MadePng{.rows = std::string(2, '\0'), .transparency = std::string(2, '\0')}.bytes()),
      HasSubstr("transparent"));
}

TEST(Png, RefusesOtherFiles) {
  EXPECT_THAT(error(""), HasSubstr("'x.png' is not a PNG: it is empty"));
  EXPECT_THAT(error("GIF89a and so on"), HasSubstr("'x.png' is not a PNG"));
  const test::TemporaryFolder folder;
  EXPECT_THAT(complaint([&] { read_png(folder / "none.png"); }), HasSubstr("none.png"));
}

TEST(Png, RefusesAPictureThatWouldFillTheMemory) {
  MadePng large;
  large.width = large.height = 1 << 14;
  large.colour_type = 2;
  EXPECT_THAT(error(large.bytes()), AllOf(HasSubstr("x.png"), HasSubstr("16384 x 16384 pixels")));
}

// libpng allocates the size that a chunk claims before it reads any of it.
TEST(Png, TakesNoMemoryForAChunkThatSaysItIsLargerThanTheFile) {
  std::string bytes = MadePng{.rows = std::string("\0a", 2)}.bytes();
  bytes.insert(bytes.find("IDAT") - 4, test::big_endian(1 << 30) + "tEXtComment");
  const auto most_memory = [] {
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  const auto before = most_memory();
  EXPECT_THAT(error(bytes), HasSubstr("'x.png' is a damaged PNG: it ends too early"));
  EXPECT_LT(most_memory() - before, 100 << 10);
}

TEST(Png, TellsDamageWhereverItIs) {
  const std::string whole = encode_png(made_images({3, 8, 8}));
  for (size_t size = 8; size < whole.size(); ++size)
    EXPECT_THAT(error(whole.substr(0, size)), HasSubstr("'x.png' is a damaged PNG")) << size;
  for (size_t place = 8; place < whole.size(); ++place) {
    std::string changed = whole;
    changed[place] ^= 0x10;
    try {
      decode_png(changed, "x.png");
    } catch (const Error& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("x.png"));
    }
  }
}

TEST(Png, RefusesTensorsThatAreNoPicture) {
  EXPECT_THAT(complaint([] {
                encode_png(at::zeros({2, 4, 4}, at::kByte));
              }),
              HasSubstr("[2, 4, 4]"));
  EXPECT_THAT(complaint([] {
                encode_png(at::zeros({3, 0, 4}, at::kByte));
              }),
              HasSubstr("[3, 0, 4]"));
  EXPECT_THAT(complaint([] { encode_png(at::zeros({4, 4}, at::kByte)); }), HasSubstr("[4, 4]"));
  EXPECT_THAT(complaint([] { encode_png(at::zeros({1, 4, 4})); }), HasSubstr("picture"));
}

TEST(Png, IsMadeOfPixelsInMemory) {
  const std::vector<uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
  const Pixels pixels{.values = values, .height = 2, .width = 3, .channels = 3};
  const at::Tensor expected = at::arange(1, 19, at::kByte).reshape({2, 3, 3}).permute({2, 0, 1});
  EXPECT_TRUE(at::equal(decode_png(encode_png(pixels), "x"), expected));
  EXPECT_EQ(png_data_uri(pixels), png_data_uri(expected));
  EXPECT_THAT(complaint([&] {
                encode_png(Pixels{.values = values, .height = 2, .width = 2, .channels = 3});
              }),
              HasSubstr("18 values"));
}

TEST(Png, BecomesADataUri) {
  // The base64 of a PNG begins with that of its signature.
  EXPECT_THAT(png_data_uri(made_images({1, 1, 1})),
              StartsWith("data:image/png;base64,iVBORw0KGgo"));
  for (const int64_t width : {1, 2, 3, 4, 5, 6}) {
    const at::Tensor picture = made_images({1, 1, width});
    const std::string uri = png_data_uri(picture);
    EXPECT_EQ((uri.size() - uri.find(',') - 1), (encode_png(picture).size() + 2) / 3 * 4);
  }
}

}  // namespace
}  // namespace tessera::image
