#include "files/checkpoint_manifest.h"

#include "files/files.h"
#include "files/hash.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::quick_place;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::Optional;

void fill(const fs::path& folder) {
  fs::create_directory(folder / "sub");
  write_file_atomically(folder / "a", "abc");
  write_file_atomically(folder / "sub" / "b", "");
}

TEST(CheckpointManifest, ComesBackAsItWasWritten) {
  const TemporaryFolder folder(quick_place());
  fill(folder.path());
  const CheckpointManifest written = CheckpointManifest::of_folder(folder.path(), 12, 0.1 + 0.2);
  written.write(folder.path());
  const CheckpointManifest read = CheckpointManifest::read(folder.path());
  EXPECT_EQ(read.step, 12);
  EXPECT_EQ(read.score, 0.1 + 0.2);
  EXPECT_EQ(read.files, written.files);
  EXPECT_EQ(read.files.at("a"), (CheckpointManifest::File{3, content_hash("abc")}));
  EXPECT_EQ(read.files.at("sub/b").size, 0u);
  EXPECT_EQ(read.files.size(), 2u);
  EXPECT_EQ(read.total_size(), 3u);
  EXPECT_FALSE(read.damage(folder.path()));
}

TEST(CheckpointManifest, EqualFoldersGiveEqualBytes) {
  const TemporaryFolder a(quick_place()), b(quick_place());
  fill(a.path());
  fill(b.path());
  CheckpointManifest::of_folder(a.path(), 5, {}).write(a.path());
  CheckpointManifest::of_folder(b.path(), 5, {}).write(b.path());
  EXPECT_EQ(read_file(a / "manifest.json"), read_file(b / "manifest.json"));
}

TEST(CheckpointManifest, TellsEveryKindOfDamage) {
  const TemporaryFolder folder(quick_place());
  fill(folder.path());
  const CheckpointManifest manifest = CheckpointManifest::of_folder(folder.path(), 1, {});
  write_file_atomically(folder / "a", "abd");
  EXPECT_THAT(manifest.damage(folder.path()), Optional(HasSubstr("'a' has changed")));
  write_file_atomically(folder / "a", "ab");
  EXPECT_THAT(manifest.damage(folder.path()), Optional(HasSubstr("'a' has 2 bytes instead of 3")));
  write_file_atomically(folder / "a", "abc");
  EXPECT_FALSE(manifest.damage(folder.path()));
  fs::remove(folder / "sub" / "b");
  EXPECT_THAT(manifest.damage(folder.path()), Optional(HasSubstr("'sub/b' is missing")));
}

TEST(CheckpointManifest, RefusesWhatIsNotOne) {
  const TemporaryFolder folder(quick_place());
  EXPECT_THAT(complaint([&] { CheckpointManifest::read(folder.path()); }),
              HasSubstr("manifest.json"));
  for (const char* text :
       {"", "{", "[]", "{}", R"({"format":1})", R"({"format":"1","step":1,"files":{}})",
        R"({"format":1,"step":1,"files":{"a":{"size":-1.5}}})",
        R"({"format":1,"step":1,"files":{"../a":{"size":1,"hash":""}}})",
        R"({"format":1,"step":1,"files":{"/etc/x":{"size":1,"hash":""}}})",
        R"({"format":1,"step":1,"score":"x","files":{}})"}) {
    write_file_atomically(folder / "manifest.json", text);
    EXPECT_THAT(complaint([&] { CheckpointManifest::read(folder.path()); }),
                HasSubstr("manifest.json"))
        << text;
  }
}

TEST(CheckpointManifest, RefusesANewerFormat) {
  const TemporaryFolder folder(quick_place());
  write_file_atomically(folder / "manifest.json", R"({"format":2,"unheard":"of"})");
  EXPECT_THROW(CheckpointManifest::read(folder.path()), NewerFormat);
}

TEST(CheckpointManifest, LinksCannotBePartOfACheckpoint) {
  const TemporaryFolder folder(quick_place());
  fs::create_symlink("/dev/null", folder / "x");
  EXPECT_THAT(complaint([&] { CheckpointManifest::of_folder(folder.path(), 1, {}); }),
              HasSubstr("/x'"));
}

}  // namespace
}  // namespace tessera
