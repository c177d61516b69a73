#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::experiment {

// How a process ended.
struct Ending {
  int code = 0;    // exit code
  int signal = 0;  // that killed it; 0: none

  bool good() const { return code == 0 && signal == 0; }
  std::string text() const;  // "exit code 1", "killed by signal 9"
};

// A program that runs beside this process. It is told to stop (SIGTERM) when this process dies, for
// whatever reason.
class ChildProcess {
 public:
  struct Options {
    std::filesystem::path program = "/proc/self/exe";
    std::filesystem::path out, err;  // files that its output is appended to
    int keep_open = -1;              // a descriptor it gets, or -1
  };

  //   arguments  without the program's name
  // Throws Error if it cannot be started.
  ChildProcess(const std::vector<std::string>& arguments, const Options& options);
  ~ChildProcess();  // stops it and waits for its end
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  std::optional<Ending> poll();  // nothing while it is running
  Ending wait();
  void stop() const;  // asks the process to stop

 private:
  pid_t process_ = 0;  // 0 once it has ended
};

// Arguments as one would type them into a shell.
std::string shell_text(const std::vector<std::string>& arguments);

}  // namespace tessera::experiment
