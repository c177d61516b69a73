#include "base/regular_file.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace tessera {
namespace {

using test::complaint;
using testing::AllOf;
using testing::HasSubstr;

TEST(RegularFile, APipeOrADeviceIsRefusedAtOnce) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "zeros");
  for (const char* name : {"pipe", "zeros"}) {
    const auto expected = AllOf(HasSubstr(name), HasSubstr("not a regular file"));
    EXPECT_THAT(complaint([&] { read_file(folder / name); }), expected);
    EXPECT_THAT(complaint([&] { read_file(folder / name, 100); }), expected);
    EXPECT_THAT(complaint([&] { require_regular_file(folder / name); }), expected);
    EXPECT_THAT(complaint([&] { MappedFile(folder / name); }), expected);
  }
  EXPECT_THAT(complaint([&] { require_regular_file(folder.path()); }), HasSubstr("directory"));
}

TEST(RegularFile, AFileThatIsTooLargeIsNotRead) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "x", "12345");
  EXPECT_EQ(read_file(folder / "x", 5), "12345");
  EXPECT_THAT(complaint([&] { read_file(folder / "x", 4); }), HasSubstr("x' has more than"));
  // A hole of 64 GiB takes no room on the disk.
  std::filesystem::resize_file(folder / "x", uint64_t{1} << 36);
  EXPECT_THAT(complaint([&] { read_file(folder / "x"); }), HasSubstr("more than 1024 MiB"));
  EXPECT_THAT(complaint([&] { read_file("/proc/self/maps", 10); }), HasSubstr("more than"));
}

}  // namespace
}  // namespace tessera
