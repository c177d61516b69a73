#include "experiment/child_process.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/wait_until.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

namespace tessera::experiment {
namespace {

using testing::HasSubstr;

class Child : public testing::Test {
 protected:
  ChildProcess shell(const std::string& script) const {
    return ChildProcess({"-c", script},
                        {.program = "/bin/sh", .out = folder_ / "out", .err = folder_ / "err"});
  }
  bool wait_for(const std::string& file) const {
    return test::wait_until([&] { return std::filesystem::exists(folder_ / file); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(Child, SaysHowItEndedAndWhatItSaid) {
  const Ending good = shell("echo data; echo talk >&2").wait();
  EXPECT_TRUE(good.good());
  EXPECT_EQ(read_file(folder_ / "out"), "data\n");
  EXPECT_EQ(read_file(folder_ / "err"), "talk\n");
  EXPECT_TRUE(shell("echo more").wait().good());
  EXPECT_EQ(read_file(folder_ / "out"), "data\nmore\n");
  EXPECT_EQ(shell("exit 3").wait().text(), "exit code 3");
  EXPECT_THAT(shell("kill -9 $$").wait().text(), HasSubstr("signal 9"));
  EXPECT_EQ(ChildProcess(
                {}, {.program = folder_ / "none", .out = folder_ / "out", .err = folder_ / "err"})
                .wait()
                .code,
            127);
}

TEST_F(Child, IsToldToStop) {
  ChildProcess child = shell("trap 'exit 5' TERM; touch " + (folder_ / "ready").string() +
                             "; while :; do sleep 0.02; done");
  ASSERT_TRUE(wait_for("ready"));
  EXPECT_FALSE(child.poll().has_value());
  child.stop();
  EXPECT_EQ(child.wait().code, 5);
}

TEST_F(Child, IsStoppedWithItsObject) {
  const auto began = std::chrono::steady_clock::now();
  { const ChildProcess child = shell("exec sleep 30"); }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST_F(Child, IsStoppedWhenItsParentIsKilled) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    ChildProcess child =
        shell("trap 'touch " + (folder_ / "saved").string() + "; exit' TERM; touch " +
              (folder_ / "ready").string() + "; while :; do sleep 0.02; done");
    child.wait();
    ::_exit(0);
  }
  ASSERT_TRUE(wait_for("ready"));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(wait_for("saved"));
}

TEST_F(Child, NamesAFileThatCannotBeWritten) {
  EXPECT_THAT(test::complaint([&] {
                ChildProcess(
                    {},
                    {.program = "/bin/true", .out = folder_ / "no/out", .err = folder_ / "err"});
              }),
              HasSubstr("no/out"));
}

TEST(ShellText, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_text({"tessera", "train", "a.toml", "train.steps=5"}),
            "tessera train a.toml train.steps=5");
  EXPECT_EQ(shell_text({"a b", "", "it's", "$x"}), R"('a b' '' 'it'\''s' '$x')");
}

}  // namespace
}  // namespace tessera::experiment
