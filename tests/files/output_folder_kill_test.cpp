// After kill -9 at any moment while a folder is replaced, the old or the new one is complete.

#include "files/output_folder.h"
#include "support/no_exchange.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr OutputFolder::Kind kPair{
    "a pair", [](const fs::path& folder) { return fs::exists(folder / "one"); },
    [](const fs::path&) {
      return std::set<std::string>{"one", "two"};
    }};

constexpr int kNotAllowed = 3;  // exit code of a child that cannot forbid the exchange

void write_pair(const fs::path& path, const std::string& text) {
  OutputFolder folder(path, kPair, OutputFolder::Existing::replace);
  write_file_atomically(folder.path() / "one", text);
  write_file_atomically(folder.path() / "two", text);
  folder.commit();
}

[[noreturn]] void replace_for_ever(const fs::path& path, bool exchange) {
  if (!exchange && !test::forbid_exchange()) _exit(kNotAllowed);
  try {
    for (int k = 0;; ++k) write_pair(path, std::to_string(k));
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  _exit(1);
}

std::string pair_in(const fs::path& path) {
  const std::string one = read_file(path / "one");
  EXPECT_EQ(read_file(path / "two"), one);
  return one;
}

// Returns how often the folder was missing after a process was killed.
int kill_many_times(bool exchange, bool& allowed) {
  const test::TemporaryFolder folder(test::quick_place());
  const fs::path path = folder / "pair";
  write_pair(path, "first");
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> delay(0, 4'000);
  int missing = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const pid_t child = fork();
    if (child == 0) replace_for_ever(path, exchange);
    usleep(static_cast<useconds_t>(delay(random)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    allowed = !(WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed);
    if (!allowed) return 0;
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child failed by itself";

    missing += !fs::exists(path);
    OutputFolder::check(path, kPair, OutputFolder::Existing::replace);  // what the next start does
    pair_in(path);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "something stayed";
  }
  EXPECT_NE(pair_in(path), "first") << "nothing was ever replaced: the test shows nothing";
  return missing;
}

TEST(OutputFolder, IsThereWheneverAReplacementIsKilled) {
  bool allowed = true;
  EXPECT_EQ(kill_many_times(/*exchange=*/true, allowed), 0);
}

TEST(OutputFolder, ComesBackWhereFoldersCannotBeExchanged) {
  bool allowed = true;
  kill_many_times(/*exchange=*/false, allowed);
  if (!allowed) GTEST_SKIP() << "system calls cannot be forbidden here";
}

}  // namespace
}  // namespace tessera
