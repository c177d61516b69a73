#include "image/zip.h"

#include "image/made_images.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::image {
namespace {

using test::complaint;
using testing::HasSubstr;

// "a" holds "hello", with sizes of four bytes, as most programs write small archives.
std::string plain_archive() {
  const std::string local(
      "PK\3\4\24\0\0\0\0\0\0\0\41\0\x86\xa6\x10\x36\5\0\0\0\5\0\0\0\1\0\0\0ahello", 36);
  const std::string directory(
      "PK\1\2\24\0\24\0\0\0\0\0\0\0\41\0\x86\xa6\x10\x36\5\0\0\0\5\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0"
      "\0"
      "\0\0\0\0a",
      47);
  return local + directory + std::string("PK\5\6\0\0\0\0\1\0\1\0\57\0\0\0\44\0\0\0\0\0", 22);
}

TEST(Zip, GivesBackWhatWasWritten) {
  const test::TemporaryFolder folder;
  ZipWriter writer(folder / "a.zip");
  writer.begin("first");
  writer.write("hel");
  writer.write("lo");
  writer.begin("empty");
  writer.begin("last");
  writer.write(std::string(100000, 'x'));
  writer.commit();
  const std::string archive = read_file(folder / "a.zip");
  const std::vector<ZipEntry> entries = zip_entries(archive);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "first");
  EXPECT_TRUE(entries[0].stored);
  EXPECT_EQ(archive.substr(entries[0].begin, entries[0].size), "hello");
  EXPECT_EQ(entries[1].size, 0u);
  EXPECT_EQ(archive.substr(entries[2].begin, entries[2].size), std::string(100000, 'x'));
}

TEST(Zip, ReadsArchivesWithSmallSizes) {
  const std::string archive = plain_archive();
  const std::vector<ZipEntry> entries = zip_entries(archive);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(archive.substr(entries[0].begin, entries[0].size), "hello");
}

TEST(Zip, KnowsCompressedFiles) {
  std::string archive = plain_archive();
  archive[36 + 10] = 8;  // the compression method, in the directory
  EXPECT_FALSE(zip_entries(archive).front().stored);
}

TEST(Zip, SurvivesAnyDamage) {
  const test::TemporaryFolder folder;
  ZipWriter writer(folder / "a.zip");
  writer.begin("first");
  writer.write("hello");
  writer.commit();
  for (const std::string& whole : {read_file(folder / "a.zip"), plain_archive()}) {
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW(zip_entries(std::string_view(whole).substr(0, size)), Error) << size;
    for (size_t place = 0; place < whole.size(); ++place)
      for (const char other : {'\0', '\1', '\x7f', '\xff'}) {
        std::string changed = whole;
        changed[place] = other;
        try {
          for (const ZipEntry& entry : zip_entries(changed)) {
            EXPECT_LE(entry.begin, changed.size());
            EXPECT_LE(entry.size, changed.size() - entry.begin);
          }
        } catch (const Error&) {
        }
      }
  }
}

TEST(Zip, RefusesANameTwice) {
  const test::TemporaryFolder folder;
  ZipWriter writer(folder / "a.zip");
  EXPECT_THAT(complaint([&] { writer.write("x"); }), HasSubstr("begun"));
  writer.begin("a");
  EXPECT_THAT(complaint([&] { writer.begin("a"); }), HasSubstr("'a'"));
  EXPECT_THAT(complaint([&] { writer.begin(""); }), HasSubstr("''"));
}

}  // namespace
}  // namespace tessera::image
