#include "files/folder_lock.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace tessera {
namespace {

using test::complaint;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

TEST(FolderLock, IsHeldByOneAtATime) {
  const TemporaryFolder folder;
  std::optional<FolderLock> first(std::in_place, folder / "lock", "baker", "wait for it");
  EXPECT_THAT(complaint([&] { FolderLock(folder / "lock", "baker", "wait for it"); }),
              AllOf(HasSubstr("another baker (process " + std::to_string(getpid()) + ")"),
                    HasSubstr(folder.path().string()), HasSubstr("| wait for it")));
  first.reset();
  EXPECT_NO_THROW(FolderLock(folder / "lock", "baker", ""));
}

TEST(FolderLock, RefusesALink) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "precious", "data");
  std::filesystem::create_symlink("precious", folder / "lock");
  EXPECT_THAT(complaint([&] { FolderLock(folder / "lock", "baker", ""); }),
              HasSubstr("is a symbolic link"));
  EXPECT_EQ(read_file(folder / "precious"), "data");
}

TEST(FolderLock, MovesWithItsObject) {
  const TemporaryFolder folder;
  FolderLock first(folder / "lock", "baker", "");
  {
    const FolderLock second = std::move(first);
    EXPECT_THROW(FolderLock(folder / "lock", "baker", ""), FolderLock::Held);
  }
  EXPECT_NO_THROW(FolderLock(folder / "lock", "baker", ""));
}

// A killed experiment relies on this: its processes go on holding the lock.
TEST(FolderLock, IsHeldByChildrenThatKeepItOpen) {
  const TemporaryFolder folder;
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  std::optional<FolderLock> lock(std::in_place, folder / "lock", "baker", "");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[1]);
    char byte;
    (void)!::read(pipe[0], &byte, 1);  // until the parent closes its end
    ::_exit(0);
  }
  lock.reset();
  EXPECT_THROW(FolderLock(folder / "lock", "baker", ""), FolderLock::Held);
  ::close(pipe[1]);
  ::waitpid(child, nullptr, 0);
  ::close(pipe[0]);
  EXPECT_NO_THROW(FolderLock(folder / "lock", "baker", ""));
}

TEST(FolderLock, NamesAFileThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint([&] { FolderLock(folder / "no/lock", "baker", ""); }),
              HasSubstr("no/lock"));
}

}  // namespace
}  // namespace tessera
