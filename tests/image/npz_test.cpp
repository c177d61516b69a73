#include "image/npz.h"

#include "image/made_images.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tessera::image {
namespace {

using test::complaint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string file_of(const at::Tensor& array) {
  const test::TemporaryFolder folder;
  NpyWriter writer(folder / "a.npy", array.scalar_type(), array.sizes().vec());
  writer.append(array);
  writer.commit();
  return read_file(folder / "a.npy");
}

// From NumPy 2.4: numpy.save of numpy.arange(6, dtype='u1').reshape(2, 3).
const std::string kNumpyFile = std::string("\x93NUMPY\1\0v\0", 10) +
                               "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }" +
                               std::string(58, ' ') + "\n" + std::string("\0\1\2\3\4\5", 6);

TEST(Npy, IsWhatNumpyWrites) {
  EXPECT_EQ(file_of(at::arange(6, at::kByte).reshape({2, 3})), kNumpyFile);
}

TEST(Npy, SaysTypeAndShape) {
  const auto header_of = [](const at::Tensor& array) { return parse_npy(file_of(array)); };
  EXPECT_EQ(header_of(at::zeros({3}, at::kLong)).type, "<i8");
  EXPECT_EQ(header_of(at::zeros({3}, at::kFloat)).type, "<f4");
  EXPECT_EQ(header_of(at::zeros({3}, at::kDouble)).type, "<f8");
  EXPECT_THAT(header_of(at::zeros({3}, at::kDouble)).shape, ElementsAre(3));
  EXPECT_THAT(header_of(at::zeros({0, 2}, at::kByte)).shape, ElementsAre(0, 2));
  EXPECT_EQ(header_of(at::zeros({2, 3}, at::kByte)).data_start % 64, 0u);
}

TEST(Npy, OfWordsCountsCharactersNotBytes) {
  std::string words = kNumpyFile.substr(0, kNumpyFile.size() - 6) + std::string(32, 'x');
  words.replace(words.find("|u1"), 3, "<U4");
  words.replace(words.find("(2, 3)"), 6, "(2,)  ");
  EXPECT_THAT(parse_npy(words).shape, ElementsAre(2));
}

TEST(Npy, MayBeWrittenInBatches) {
  const test::TemporaryFolder folder;
  const at::Tensor images = test::made_images({5, 2, 3});
  NpyWriter writer(folder / "a.npy", at::kByte, {5, 2, 3});
  writer.append(images.slice(0, 0, 2));
  writer.append(images.slice(0, 2, 5));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npy"));
  writer.commit();
  EXPECT_EQ(read_file(folder / "a.npy"), file_of(images));
}

TEST(Npy, HoldsElementsInOrderWhateverTheirStrides) {
  const at::Tensor images = test::made_images({2, 3, 4, 5}).permute({0, 2, 3, 1});
  EXPECT_EQ(file_of(images), file_of(images.contiguous()));
}

TEST(Npy, TellsBatchesThatDoNotFit) {
  const test::TemporaryFolder folder;
  NpyWriter writer(folder / "a.npy", at::kByte, {2, 3});
  EXPECT_THAT(complaint([&] { writer.append(at::zeros({1, 4}, at::kByte)); }), HasSubstr("batch"));
  EXPECT_THAT(complaint([&] { writer.append(at::zeros({1, 3})); }), HasSubstr("batch"));
  EXPECT_THAT(complaint([&] { writer.append(at::zeros({3, 3}, at::kByte)); }), HasSubstr("2 rows"));
  writer.append(at::zeros({1, 3}, at::kByte));
  EXPECT_THAT(complaint([&] { writer.commit(); }), HasSubstr("only 1"));
  EXPECT_THAT(complaint([&] { NpyWriter(folder / "b.npy", at::kHalf, {2}); }), HasSubstr("Half"));
  EXPECT_THAT(complaint([&] { NpyWriter(folder / "b.npy", at::kByte, {}); }),
              HasSubstr("dimension"));
}

TEST(Npy, ReadsOtherHeaders) {
  const std::string text = "{'shape': (), \"descr\": \"<f2\", 'fortran_order': True}\n";
  // Version 2 gives the length of the header in four bytes.
  const NpyHeader header =
      parse_npy(std::string("\x93NUMPY\2\0", 8) + static_cast<char>(text.size()) +
                std::string(3, '\0') + text + "ab");
  EXPECT_EQ(header.type, "<f2");
  EXPECT_TRUE(header.fortran_order);
  EXPECT_THAT(header.shape, IsEmpty());
}

TEST(Npy, SurvivesAnyDamage) {
  for (size_t size = 0; size < kNumpyFile.size(); ++size)
    EXPECT_THROW(parse_npy(std::string_view(kNumpyFile).substr(0, size)), Error) << size;
  EXPECT_THROW(parse_npy(kNumpyFile + "x"), Error);
  for (size_t place = 0; place < kNumpyFile.size(); ++place)
    for (const char other : {'\0', '9', '\x7f', '\xff'}) {
      std::string changed = kNumpyFile;
      changed[place] = other;
      try {
        EXPECT_LE(parse_npy(changed).data_start, changed.size());
      } catch (const Error&) {
      }
    }
}

TEST(Npz, HoldsNamedArrays) {
  const test::TemporaryFolder folder;
  const at::Tensor images = test::made_images({5, 2, 3}), labels = at::arange(5, at::kLong);
  NpzWriter writer(folder / "a.npz");
  writer.begin("images", at::kByte, {5, 2, 3});
  writer.append(images.slice(0, 0, 4));
  writer.append(images.slice(0, 4, 5));
  writer.add("labels", labels);
  writer.commit();
  const std::string archive = read_file(folder / "a.npz");
  const std::vector<ZipEntry> entries = zip_entries(archive);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "images.npy");
  EXPECT_EQ(archive.substr(entries[0].begin, entries[0].size), file_of(images));
  EXPECT_EQ(entries[1].name, "labels.npy");
  EXPECT_EQ(archive.substr(entries[1].begin, entries[1].size), file_of(labels));
}

TEST(Npz, RefusesArraysThatAreNotComplete) {
  const test::TemporaryFolder folder;
  NpzWriter writer(folder / "a.npz");
  EXPECT_THAT(complaint([&] { writer.append(at::zeros({1})); }), HasSubstr("begun"));
  writer.begin("a", at::kFloat, {2});
  writer.append(at::zeros({1}));
  EXPECT_THAT(complaint([&] { writer.begin("b", at::kFloat, {2}); }), HasSubstr("only 1"));
  EXPECT_THAT(complaint([&] { writer.commit(); }), HasSubstr("only 1"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npz"));
}

}  // namespace
}  // namespace tessera::image
