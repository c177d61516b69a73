#include "files/own_file.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

TEST(OwnFile, IsMadeOrAppendedTo) {
  const TemporaryFolder folder;
  for (const char* text : {"one", "two"}) {
    const int descriptor = open_own_file(folder / "log", O_WRONLY | O_APPEND);
    EXPECT_EQ(::write(descriptor, text, 3), 3);
    ::close(descriptor);
  }
  EXPECT_EQ(read_file(folder / "log"), "onetwo");
}

TEST(OwnFile, IsNeverALink) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "precious", "data");
  fs::create_symlink("precious", folder / "link");
  fs::create_symlink("nothing", folder / "dangling");
  for (const char* name : {"link", "dangling"}) {
    EXPECT_THAT(complaint([&] { open_own_file(folder / name, O_RDWR); }),
                AllOf(HasSubstr(name), HasSubstr("is a symbolic link"), HasSubstr("| remove")));
    EXPECT_THAT(complaint([&] { refuse_link(folder / name); }), HasSubstr("is a symbolic link"));
  }
  EXPECT_NO_THROW(refuse_link(folder / "precious"));
  EXPECT_NO_THROW(refuse_link(folder / "nothing"));
  EXPECT_EQ(read_file(folder / "precious"), "data");
}

TEST(OwnFile, IsNoPipeToWaitFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const int access : {O_WRONLY | O_APPEND, O_RDWR})
    EXPECT_THAT(complaint([&] { open_own_file(folder / "pipe", access); }),
                HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace tessera
