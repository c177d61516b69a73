#include "files/hash.h"

#include "files/files.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Hash, IsXxh3OfTheBytes) {
  // From xxhsum -H2 of xxHash 0.8.1.
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_hash("a"), content_hash("b"));
}

TEST(Hash, OfAFileIsThatOfItsBytes) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "some bytes");
  EXPECT_EQ(file_hash(folder.path() / "file"), content_hash("some bytes"));
}

}  // namespace
}  // namespace tessera
