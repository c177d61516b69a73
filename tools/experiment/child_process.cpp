#include "experiment/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "files/own_file.h"
#include "tessera/base/error.h"

namespace tessera::experiment {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int value() const { return value_; }

 private:
  int value_;
};

Ending ending_of(int status) {
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

constexpr int kNotStarted = 127;  // the code that shells use

}  // namespace

std::string Ending::text() const {
  if (signal == SIGKILL) return "killed by signal 9 (out of memory?)";
  if (signal != 0) return fmt::format("killed by signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", code);
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const Options& options) {
  const Descriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      out(open_own_file(options.out, O_WRONLY | O_APPEND)),
      err(open_own_file(options.err, O_WRONLY | O_APPEND));
  std::string name = "tessera";
  std::vector<char*> words{name.data()};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.data()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  // A signal that comes between fork() and execv() must not end in a handler of ours.
  sigset_t stops, before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &stops, &before);
  process_ = ::fork();
  if (process_ != 0) {
    const int code = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (process_ < 0) throw Error(fmt::format("cannot start a process: {}", ::strerror(code)));
    return;
  }

  // From here on only functions that are safe after fork(). The child is in a process group of its
  // own: what is typed at the terminal reaches only the parent, which passes it on.
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNotStarted);  // the parent died before it could be watched
  if (options.keep_open >= 0) ::fcntl(options.keep_open, F_SETFD, 0);
  ::dup2(in.value(), 0);
  ::dup2(out.value(), 1);
  ::dup2(err.value(), 2);
  ::execv(options.program.c_str(), words.data());
  ::_exit(kNotStarted);
}

ChildProcess::~ChildProcess() {
  if (process_ == 0) return;
  stop();
  wait();
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(process_, other.process_);
  return *this;
}

std::optional<Ending> ChildProcess::poll() {
  int status = 0;
  const pid_t ended = ::waitpid(process_, &status, WNOHANG);
  if (ended != process_) return std::nullopt;
  process_ = 0;
  return ending_of(status);
}

Ending ChildProcess::wait() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return ending_of(status);
}

void ChildProcess::stop() const {
  if (process_ > 0) ::kill(process_, SIGTERM);
}

std::string shell_text(const std::vector<std::string>& arguments) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+";
  std::string line;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace tessera::experiment
