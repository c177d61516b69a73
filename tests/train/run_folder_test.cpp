#include "train/run_folder.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace tessera::train {
namespace {

using test::complaint;
using test::quick_place;
using test::TemporaryFolder;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

TEST(RunFolder, IsMadeWithItsParents) {
  const TemporaryFolder folder(quick_place());
  const RunFolder run = RunFolder::create(folder / "runs/a");
  EXPECT_FALSE(RunFolder::is_one(run.path()));
  run.write_config("x = 1\n");
  EXPECT_TRUE(RunFolder::is_one(run.path()));
  EXPECT_EQ(read_file(folder.path() / "runs/a/config.toml"), "x = 1\n");
  EXPECT_EQ(run.metrics(), folder / "runs/a" / "metrics.jsonl");
}

TEST(RunFolder, IsNotMadeOverAnother) {
  const TemporaryFolder folder(quick_place());
  RunFolder::create(folder / "a").write_config("");
  EXPECT_THAT(
      complaint([&] { RunFolder::create(folder / "a"); }),
      AllOf(HasSubstr("holds a run already"), HasSubstr("--resume " + (folder / "a").string())));
}

TEST(RunFolder, RefusesLinksInThePlaceOfItsFiles) {
  namespace fs = std::filesystem;
  for (const char* name : {"lock", "config.toml", "metrics.jsonl"}) {
    const TemporaryFolder folder(quick_place());
    write_file_atomically(folder / "precious", "data");
    fs::create_directory(folder / "new");
    // The link points nowhere yet: a folder with a readable config.toml would be a run folder.
    fs::create_symlink("../later", folder.path() / "new" / name);
    EXPECT_THAT(
        complaint([&] { RunFolder::create(folder / "new"); }),
        AllOf(HasSubstr(name), AnyOf(HasSubstr("is a symbolic link"), HasSubstr("is not empty"))));
    EXPECT_FALSE(fs::exists(folder / "later"));
    EXPECT_TRUE(fs::is_symlink(folder.path() / "new" / name));

    RunFolder::create(folder / "run").write_config("x = 1\n");
    fs::remove(folder.path() / "run" / name);
    if (name == std::string("config.toml")) write_file_atomically(folder / "precious", "x = 1\n");
    const std::string before = read_file(folder / "precious");
    fs::create_symlink("../precious", folder.path() / "run" / name);
    RunFolder run = RunFolder::open(folder / "run");
    EXPECT_THAT(complaint([&] { run.lock(); }), HasSubstr("is a symbolic link"));
    EXPECT_EQ(read_file(folder / "precious"), before);
  }
}

TEST(RunFolder, MayBeMadeAgainWhereOneWasKilledBeforeItsConfig) {
  const TemporaryFolder folder(quick_place());
  { const RunFolder killed = RunFolder::create(folder / "a"); }
  EXPECT_NO_THROW(RunFolder::create(folder / "a"));
}

TEST(RunFolder, LeavesNothingWhereARunCouldNotBegin) {
  const TemporaryFolder folder(quick_place());
  const auto begin_and_abandon = [&](const char* name) {
    RunFolder run = RunFolder::create(folder / name);
    run.write_config("");
    run.abandon();
  };
  begin_and_abandon("new");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  begin_and_abandon("deep/within/new/");
  EXPECT_FALSE(std::filesystem::exists(folder / "deep"));
  std::filesystem::create_directory(folder / "empty");
  begin_and_abandon("empty");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "empty"));
}

TEST(RunFolder, LeavesNoDataWhereARunCouldNotBegin) {
  const TemporaryFolder folder(quick_place());
  std::filesystem::create_directory(folder / "empty");
  RunFolder run = RunFolder::create(folder / "empty");
  std::filesystem::create_directory(folder / "empty/data");
  write_file_atomically(folder / "empty/data/ids", "made by the run");
  run.abandon();
  EXPECT_TRUE(std::filesystem::is_empty(folder / "empty"));
}

TEST(RunFolder, IsNotMadeInAFolderThatHoldsSomethingElse) {
  const TemporaryFolder folder(quick_place());
  for (const char* name : {"manifest.json", "notes", "data"}) {
    std::filesystem::create_directories(folder / name);
    write_file_atomically(folder / name / name, "mine");
    EXPECT_THAT(complaint([&] { RunFolder::create(folder / name); }),
                AllOf(HasSubstr((folder / name).string()), HasSubstr("is not empty"),
                      HasSubstr(name), HasSubstr("train.out")));
    EXPECT_EQ(read_file(folder / name / name), "mine");
    EXPECT_FALSE(std::filesystem::exists(folder / name / "lock"));
  }
}

TEST(RunFolder, IsMadeWhereAKilledRunLeftATemporaryFile) {
  const TemporaryFolder folder(quick_place());
  std::filesystem::create_directories(folder / "a");
  write_file_atomically(folder / "a/.tessera-tmp-1-1", "half a config");
  EXPECT_NO_THROW(RunFolder::create(folder / "a"));
}

TEST(RunFolder, OpensOnlyRunFolders) {
  const TemporaryFolder folder(quick_place());
  EXPECT_THAT(complaint([&] { RunFolder::open(folder / "none"); }), HasSubstr("no run folder"));
  EXPECT_THAT(complaint([&] { RunFolder::open(folder.path()); }), HasSubstr("no config.toml"));
  write_file_atomically(folder / "file", "");
  EXPECT_THAT(complaint([&] { RunFolder::open(folder / "file"); }), HasSubstr("no run folder"));
  EXPECT_THAT(complaint([&] { RunFolder::create(folder / "file"); }), HasSubstr("/file'"));
}

TEST(RunFolder, OneProcessTrainsAtATime) {
  const TemporaryFolder folder(quick_place());
  RunFolder first = RunFolder::create(folder / "a");
  first.write_config("");
  first.lock();
  RunFolder second = RunFolder::open(folder / "a");  // reading needs no lock
  EXPECT_THAT(complaint([&] { second.lock(); }),
              AllOf(HasSubstr("another training"), HasSubstr(std::to_string(getpid())),
                    HasSubstr("train.out")));
  { const RunFolder moved = std::move(first); }
  EXPECT_NO_THROW(second.lock());
}

TEST(RunFolder, TwoAtOnceCannotMakeTheSame) {
  const TemporaryFolder folder(quick_place());
  const RunFolder first = RunFolder::create(folder / "a");
  EXPECT_THAT(complaint([&] { RunFolder::create(folder / "a"); }), HasSubstr("another training"));
}

TEST(RunFolder, AKilledProcessGivesItsLockBack) {
  const TemporaryFolder folder(quick_place());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const RunFolder run = RunFolder::create(folder / "a");
    run.write_config("");
    if (write(ends[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  RunFolder run = RunFolder::open(folder / "a");
  EXPECT_THAT(complaint([&] { run.lock(); }), HasSubstr(std::to_string(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(run.lock());
}

}  // namespace
}  // namespace tessera::train
