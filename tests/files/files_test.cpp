#include "files/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "support/complaint.h"
#include "support/plain_user.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::PlainUser;
using test::SmallDisk;
using test::TemporaryFolder;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(ReadFile, ReturnsAllBytes) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\n\xff", 5);
  write_file_atomically(folder / "x", bytes);
  EXPECT_EQ(read_file(folder / "x"), bytes);
  write_file_atomically(folder / "empty", "");
  EXPECT_EQ(read_file(folder / "empty"), "");
  const std::string large(100'000, 'x');
  write_file_atomically(folder / "large", large);
  EXPECT_EQ(read_file(folder / "large"), large);
}

TEST(ReadFile, ReadsFilesThatDoNotKnowTheirSize) {
  EXPECT_HAS(read_file("/proc/self/status"), "Name:");
}

TEST(ReadFile, NamesThePathAndTheReason) {
  const TemporaryFolder folder;
  EXPECT_EQ(complaint([&] { read_file(folder / "none"); }),
            "cannot read '" + (folder / "none").string() + "': No such file or directory");
  EXPECT_HAS(complaint([&] { read_file(folder.path()); }), "Is a directory");
}

TEST(FileError, FullDiskComesWithAdvice) {
  const Error error = file_error("write", "/data/x", ENOSPC);
  EXPECT_STREQ(error.what(), "cannot write '/data/x': No space left on device");
  EXPECT_HAS(error.hint(), "the disk is full");
  EXPECT_EQ(file_error("write", "/data/x", EACCES).hint(), "");
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "x");
  file.write("half");
  EXPECT_EQ(names_in(folder.path()).count("x"), 0u);
  EXPECT_EQ(names_in(folder.path()).size(), 1u);
  file.write(" and half");
  file.commit();
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"x"});
  EXPECT_EQ(read_file(folder / "x"), "half and half");
}

TEST(AtomicFile, ReplacesAnExistingFileAtOnce) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "old");
  AtomicFile file(folder / "x");
  file.write("new");
  EXPECT_EQ(read_file(folder / "x"), "old");
  file.commit();
  EXPECT_EQ(read_file(folder / "x"), "new");
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "old");
  { AtomicFile(folder / "x").write("new"); }
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"x"});
  EXPECT_EQ(read_file(folder / "x"), "old");
}

TEST(AtomicFile, LeavesNothingWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "old");
  std::string message;
  {
    const SmallDisk disk(4096);
    message = complaint([&] { write_file_atomically(folder / "x", std::string(10'000, 'a')); });
  }
  EXPECT_HAS(message, "cannot write '" + (folder / "x").string() + "'");
  EXPECT_HAS(message, "limit");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"x"});
  EXPECT_EQ(read_file(folder / "x"), "old");
}

TEST(AtomicFile, NamesWhatCannotBeWritten) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "");
  EXPECT_HAS(complaint([&] { write_file_atomically(folder / "none/x", ""); }),
             (folder / "none/x").string() + "': No such file or directory");
  EXPECT_HAS(complaint([&] { write_file_atomically(folder / "file/x", ""); }), "Not a directory");
  EXPECT_HAS(complaint([&] { write_file_atomically(folder.path(), ""); }), "Is a directory");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"file"});
}

TEST(AtomicFile, RefusesAFolderWithoutPermission) {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(0555));
  std::string message;
  {
    const PlainUser user;
    message = complaint([&] { write_file_atomically(folder / "x", "new"); });
  }
  fs::permissions(folder.path(), fs::perms(0755));
  EXPECT_HAS(message, "Permission denied");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
}

TEST(AtomicFile, DoesNotReplaceADevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_HAS(complaint([&] { write_file_atomically(folder / "pipe", "x"); }), "not a regular file");
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"pipe"});
}

TEST(AtomicFile, WritesThroughALinkTheUserNamed) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  write_file_atomically(folder / "there/x", "old");
  fs::create_symlink("there/x", folder / "link");
  write_file_atomically(folder / "link", "new", Links::follow);
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "there/x"), "new");
}

TEST(AtomicFile, RefusesALinkInAFolderOfOurs) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "precious", "data");
  fs::create_symlink("precious", folder / "link");
  EXPECT_HAS(complaint([&] { write_file_atomically(folder / "link", "new"); }),
             (folder / "link").string() + "' is a symbolic link");
  EXPECT_EQ(read_file(folder / "precious"), "data");
}

TEST(AtomicFile, TheFirstInAFolderRemovesWhatKilledProcessesLeft) {
  const TemporaryFolder folder;
  std::ofstream(folder / ".tessera-tmp-1-1") << "half";
  fs::create_directory(folder / ".tessera-tmp-1-2");
  fs::create_directory(folder / "below");
  std::ofstream(folder / "below/.tessera-tmp-1-3") << "half";
  const pid_t child = fork();
  if (child == 0) {
    write_file_atomically(folder / "below/x", "");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(names_in(folder / "below"), std::set<std::string>{"x"});
  EXPECT_EQ(names_in(folder.path()).size(), 3u) << "that is another folder";
  const pid_t next = fork();
  if (next == 0) {
    AtomicFolder(folder.path()).commit("y");
    _exit(0);
  }
  waitpid(next, nullptr, 0);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"below", "y"}));
}

TEST(AtomicFile, IsNotTakenForALeftoverByOthersThatStart) {
  const TemporaryFolder folder(test::quick_place());
  std::vector<pid_t> children;
  for (int number = 0; number < 4; ++number) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    int failures = 0;
    for (int k = 0; k < 200; ++k) {
      try {
        remove_leftovers(folder.path());
        write_file_atomically(folder / ("x" + std::to_string(number)), "");
        AtomicFolder made(folder.path());
        made.commit("y" + std::to_string(number) + "-" + std::to_string(k));
      } catch (const Error& error) {
        ++failures;
        fprintf(stderr, "%s\n", error.what());
      }
    }
    _exit(failures > 0);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(AtomicFile, RespectsTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = umask(022);
  write_file_atomically(folder / "x", "");
  umask(before);
  EXPECT_EQ(fs::status(folder / "x").permissions(), fs::perms(0644));
}

TEST(AtomicFolder, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const fs::path parent = folder / "run/checkpoints";
  AtomicFolder made(parent);
  write_file_atomically(made.path() / "weights", "w");
  fs::create_directory(made.path() / "sub");
  write_file_atomically(made.path() / "sub/state", "s");
  EXPECT_EQ(names_in(parent), std::set<std::string>{made.path().filename().string()});
  EXPECT_EQ(made.commit("step-100"), parent / "step-100");
  EXPECT_EQ(names_in(parent), std::set<std::string>{"step-100"});
  EXPECT_EQ(read_file(parent / "step-100/weights"), "w");
  EXPECT_EQ(read_file(parent / "step-100/sub/state"), "s");
}

TEST(AtomicFolder, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    const AtomicFolder made(folder.path());
    fs::create_directory(made.path() / "sub");
    write_file_atomically(made.path() / "sub/state", "s");
  }
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
}

TEST(AtomicFolder, DoesNotReplaceAFullFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "step-100");
  write_file_atomically(folder / "step-100/weights", "old");
  {
    AtomicFolder made(folder.path());
    write_file_atomically(made.path() / "weights", "new");
    EXPECT_HAS(complaint([&] { made.commit("step-100"); }), (folder / "step-100").string());
    made.commit("step-101");
  }
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"step-100", "step-101"}));
  EXPECT_EQ(read_file(folder / "step-100/weights"), "old");
}

TEST(AtomicFolder, TakesThePlaceOfAFullFolderWhereAsked) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "step-100");
  write_file_atomically(folder / "step-100/weights", "old");
  AtomicFolder made(folder.path());
  write_file_atomically(made.path() / "weights", "new");
  EXPECT_EQ(made.replace("step-100"), folder / "step-100");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"step-100"});
  EXPECT_EQ(read_file(folder / "step-100/weights"), "new");
}

TEST(AtomicFolder, TakesOnlyNamesWithinItsParent) {
  const TemporaryFolder folder;
  AtomicFolder made(folder.path());
  for (const char* name : {"", ".", "..", "../x", "/tmp/x", "a/b"})
    EXPECT_HAS(complaint([&] { made.commit(name); }), "is not the name of a folder");
}

TEST(AtomicFolder, NamesAParentThatCannotBeMade) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "");
  EXPECT_HAS(complaint([&] { AtomicFolder(folder / "file/sub"); }), (folder / "file/sub").string());
}

TEST(RemoveLeftovers, RemovesWhatAKilledProcessLeft) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    AtomicFolder made(folder.path());
    AtomicFile file(folder / "x");
    file.write("half");
    AtomicFile(made.path() / "weights").write("half");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(names_in(folder.path()).size(), 2u);
  EXPECT_EQ(remove_leftovers(folder.path()), 2u);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
}

TEST(RemoveLeftovers, EndsOrUndoesAReplacementThatWasKilled) {
  const TemporaryFolder folder;
  for (const char* name :
       {".tessera-old-lost", ".tessera-old-done", "done", ".tessera-old-begun", "begun"})
    fs::create_directory(folder / name);
  write_file_atomically(folder / ".tessera-old-lost/x", "old");
  write_file_atomically(folder / ".tessera-old-done/x", "old");
  write_file_atomically(folder / "done/x", "new");
  write_file_atomically(folder / ".tessera-old-begun/x", "old");
  EXPECT_EQ(remove_leftovers(folder.path()), 3u);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"begun", "done", "lost"}));
  EXPECT_EQ(read_file(folder / "lost/x"), "old");
  EXPECT_EQ(read_file(folder / "done/x"), "new");
  EXPECT_EQ(read_file(folder / "begun/x"), "old") << "an empty folder is no successor";
}

TEST(RemoveLeftovers, KeepsWhatBelongsToOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryFolder folder;
  fs::create_directory(folder / ".tessera-tmp-1-1");
  ASSERT_EQ(chown((folder / ".tessera-tmp-1-1").c_str(), 65534, 65534), 0);
  EXPECT_EQ(remove_leftovers(folder.path()), 0u);
  EXPECT_EQ(names_in(folder.path()).size(), 1u);
}

TEST(RemoveLeftovers, RemovesLinksOfDeadProcesses) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  fs::create_symlink("x", folder / (".tessera-tmp-" + std::to_string(child) + "-0"));
  const std::string alive = ".tessera-tmp-" + std::to_string(getpid()) + "-99";
  fs::create_symlink("x", folder / alive);
  EXPECT_EQ(remove_leftovers(folder.path()), 1u);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{alive});
}

TEST(IsThere, TellsWhatIsMissingFromWhatCannotBeSeen) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "closed");
  write_file_atomically(folder / "closed/x", "");
  EXPECT_TRUE(is_there(folder / "closed/x"));
  EXPECT_FALSE(is_there(folder / "closed/y"));
  EXPECT_FALSE(is_there(folder / "closed/x/z"));
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(folder / "closed", fs::perms(0));
  {
    const PlainUser user;
    EXPECT_HAS(complaint([&] { is_there(folder / "closed/x"); }), "Permission denied");
  }
  fs::permissions(folder / "closed", fs::perms(0755));
}

TEST(RemoveLeftovers, KeepsWhatIsBeingWrittenAndWhatIsNotOurs) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "mine", "");
  AtomicFolder made(folder.path());
  AtomicFile file(folder / "x");
  EXPECT_EQ(remove_leftovers(folder.path()), 0u);
  file.commit();
  made.commit("y");
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"mine", "x", "y"}));
}

TEST(ReplaceSymlink, MakesAndMovesALink) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "one", "1");
  write_file_atomically(folder / "two", "2");
  replace_symlink(folder / "last", "one");
  EXPECT_EQ(read_file(folder / "last"), "1");
  replace_symlink(folder / "last", "two");
  EXPECT_EQ(read_file(folder / "last"), "2");
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"last", "one", "two"}));
}

TEST(ReplaceSymlink, ReplacesALinkThatPointsNowhereOrToAFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "step-1");
  replace_symlink(folder / "last", "gone");
  replace_symlink(folder / "last", "step-1");
  replace_symlink(folder / "last", "step-2");
  EXPECT_EQ(fs::read_symlink(folder / "last"), "step-2");
  EXPECT_TRUE(fs::is_empty(folder / "step-1"));
}

TEST(ReplaceSymlink, DoesNotReplaceAnythingElse) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "data");
  EXPECT_HAS(complaint([&] { replace_symlink(folder / "file", "x"); }), "not a symbolic link");
  EXPECT_HAS(complaint([&] { replace_symlink(folder / "none/last", "x"); }),
             (folder / "none/last").string());
  EXPECT_EQ(read_file(folder / "file"), "data");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"file"});
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "hello");
  const MappedFile mapped(folder / "x");
  EXPECT_EQ(mapped.view(), "hello");
  EXPECT_HAS(complaint([&] { mapped.writable_data(); }), "reading only");
}

TEST(MappedFile, WritesStayPrivate) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "hello");
  const MappedFile mapped(folder / "x", MappedFile::Pages::copy_on_write);
  mapped.writable_data()[0] = 'J';
  EXPECT_EQ(mapped.view(), "Jello");
  EXPECT_EQ(read_file(folder / "x"), "hello");
}

TEST(MappedFile, MapsAnEmptyFile) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "");
  EXPECT_EQ(MappedFile(folder / "x").view(), "");
  EXPECT_EQ(MappedFile(folder / "x", MappedFile::Pages::copy_on_write).size(), 0u);
}

TEST(MappedFile, StaysMappedWhenMovedAndWhenTheFileIsRemoved) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "hello");
  write_file_atomically(folder / "y", "other");
  MappedFile first(folder / "x");
  MappedFile second = std::move(first);
  fs::remove(folder / "x");
  EXPECT_EQ(second.view(), "hello");
  EXPECT_EQ(first.size(), 0u);
  second = MappedFile(folder / "y");
  EXPECT_EQ(second.view(), "other");
}

TEST(MappedFile, NamesWhatCannotBeMapped) {
  const TemporaryFolder folder;
  EXPECT_HAS(complaint([&] { MappedFile(folder / "none"); }), (folder / "none").string());
  EXPECT_HAS(complaint([&] { MappedFile{folder.path()}; }), "Is a directory");
  EXPECT_HAS(complaint([&] { MappedFile("/dev/null"); }), "not a regular file");
}

TEST(RemoveTree, RemovesFoldersAndLinksButNotWhatLinksPointTo) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "kept", "x");
  fs::create_directories(folder / "tree/a/b");
  write_file_atomically(folder / "tree/a/b/file", "y");
  fs::create_symlink(folder / "kept", folder / "tree/link");
  fs::create_directory_symlink(folder.path(), folder / "tree/a/up");
  EXPECT_TRUE(remove_tree(folder / "tree"));
  EXPECT_FALSE(fs::exists(folder / "tree"));
  EXPECT_EQ(read_file(folder / "kept"), "x");
  EXPECT_FALSE(remove_tree(folder / "missing"));
}

}  // namespace
}  // namespace tessera
