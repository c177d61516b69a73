#pragma once

#include "support/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tessera::test {

inline std::string file_text(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

// Tests of the program as a person runs it, in a folder of their own. The test program must know
// TESSERA_PROGRAM.
class ProgramTest : public testing::Test {
 protected:
  struct Result {
    int status;  // exit code, -1 where a signal ended it
    std::string out, err;
  };

  // Runs `tessera ARGUMENTS` through the shell, with stdout to a file of ours or to `output`.
  // `arguments` may redirect stdin ("... <in").
  Result run(const std::string& arguments, const std::filesystem::path& output = {}) const {
    const std::filesystem::path out = output.empty() ? folder_ / "out" : output;
    const std::filesystem::path err = folder_ / "err";
    const std::string command = "cd " + folder_.path().string() + " && " + TESSERA_PROGRAM + " " +
                                arguments + " >" + out.string() + " 2>" + err.string();
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            output.empty() ? file_text(out) : std::string(), file_text(err)};
  }

  // Writes a file into the folder, as it is.
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  TemporaryFolder folder_;
};

}  // namespace tessera::test
