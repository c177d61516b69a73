#pragma once

#include "support/temporary_folder.h"
#include "support/wait_until.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace tessera::test {

inline std::string file_text(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

// Tests of the program as a person runs it, in a folder of their own. Needs TESSERA_PROGRAM.
class ProgramTest : public testing::Test {
 protected:
  explicit ProgramTest(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : folder_(parent) {}

  struct Result {
    int status;  // exit code, -1 if a signal ended it
    std::string out, err;
  };

  // Runs `tessera ARGUMENTS` through the shell, with stdout to a file of ours or to `output`.
  // `arguments` may redirect stdin ("... <in").
  Result run(const std::string& arguments, const std::filesystem::path& output = {}) const {
    return run_in("", arguments, output);
  }

  // The same, with words before the program that change its environment ("NAME=value ").
  Result run_in(const std::string& environment, const std::string& arguments,
                const std::filesystem::path& output = {}) const {
    const std::filesystem::path out = output.empty() ? folder_ / "out" : output;
    const std::filesystem::path err = folder_ / "err";
    const int status =
        std::system(command(environment + TESSERA_PROGRAM, arguments, out, err).c_str());
    return {exit_code(status), output.empty() ? file_text(out) : std::string(), file_text(err)};
  }

  // A running program, for tests that send it signals. The destructor kills it.
  class Running {
   public:
    Running(pid_t process, std::filesystem::path out, std::filesystem::path err)
        : process_(process), out_(std::move(out)), err_(std::move(err)) {}
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
      if (process_ <= 0) return;
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }

    void signal(int number) const { ::kill(process_, number); }

    Result wait() {
      int status = 0;
      ::waitpid(std::exchange(process_, 0), &status, 0);
      return {exit_code(status), file_text(out_), file_text(err_)};
    }

   private:
    pid_t process_;  // 0 once it was waited for
    std::filesystem::path out_, err_;
  };

  // Starts `tessera ARGUMENTS` and does not wait for it.
  Running start(const std::string& arguments) const {
    const std::filesystem::path out = folder_ / "out-of-started", err = folder_ / "err-of-started";
    // With exec the shell becomes the program, and signals reach it.
    const std::string line = command(std::string("exec ") + TESSERA_PROGRAM, arguments, out, err);
    const pid_t process = ::fork();
    if (process == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    return Running(process, out, err);
  }

  // Expects the program to fail with this exit code and error message, and nothing on stdout.
  void expect_failure(const std::string& arguments, int status,
                      const testing::Matcher<const std::string&>& message) const {
    const auto result = run(arguments);
    EXPECT_EQ(result.status, status) << arguments << '\n' << result.err;
    EXPECT_THAT(result.err, message) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
  }

  // Writes a file into the folder, as it is.
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  TemporaryFolder folder_;

 private:
  static int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

  std::string command(const std::string& program, const std::string& arguments,
                      const std::filesystem::path& out, const std::filesystem::path& err) const {
    return "cd " + folder_.path().string() + " && " + program + " " + arguments + " >" +
           out.string() + " 2>" + err.string();
  }
};

}  // namespace tessera::test
