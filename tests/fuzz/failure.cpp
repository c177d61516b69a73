#include "fuzz/failure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#define TESSERA_SANITIZED 1
#else
#define TESSERA_SANITIZED 0
#endif

namespace tessera::fuzz {
namespace {

constexpr unsigned kMostSeconds = TESSERA_SANITIZED ? 60 : 20;               // for one input
constexpr uint64_t kMostMemory = uint64_t{TESSERA_SANITIZED ? 3 : 1} << 30;  // likewise

// The current input, in plain memory, because a signal handler may do little.
struct Place {
  const char* bytes = nullptr;
  size_t size = 0;
  std::array<char, 4096> folder{}, file{};
};
Place at_hand;

// Uses only calls that a signal handler may make.
void save_input() {
  if (at_hand.bytes == nullptr) return;
  ::mkdir(at_hand.folder.data(), 0777);
  const int file = ::open(at_hand.file.data(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return;
  for (size_t done = 0; done < at_hand.size;) {
    const ssize_t written = ::write(file, at_hand.bytes + done, at_hand.size - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  ::close(file);
  const auto say = [](const char* text) {
    if (::write(STDERR_FILENO, text, std::char_traits<char>::length(text)) < 0) return;
  };
  say("the input is in ");
  say(at_hand.file.data());
  say("\n");
}

void on_signal(int signal) {
  save_input();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

uint64_t most_memory_so_far() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}

void copy_text(const std::filesystem::path& path, std::array<char, 4096>& to) {
  const std::string text = path.string();
  std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin());
}

// Limits the memory that is asked for, whether or not it is used.
[[maybe_unused]] void limit_memory() {
  std::ifstream about("/proc/self/statm");
  uint64_t pages = 0;
  if (!(about >> pages)) return;
  struct rlimit limit {};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(
      limit.rlim_max, pages * static_cast<uint64_t>(::getpagesize()) + 2 * kMostMemory);
  ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

Watch::Watch(std::string target, std::filesystem::path failures)
    : memory_at_start_(most_memory_so_far()) {
  copy_text(failures, at_hand.folder);
  copy_text(failures / (target + "-" + std::to_string(::getpid())), at_hand.file);
#if TESSERA_SANITIZED
  __sanitizer_set_death_callback(save_input);
  constexpr std::array kSignals{SIGABRT, SIGALRM};  // others are the sanitizer's
#else
  constexpr std::array kSignals{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM};
  limit_memory();
  // Signal handlers get their own stack, because the usual one may be used up.
  static std::array<char, 1 << 16> stack;
  const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&other, nullptr);
#endif
  for (const int signal : kSignals) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(signal, &action, nullptr);
  }
}

void Watch::begin(std::string_view input) {
  at_hand.bytes = input.data();
  at_hand.size = input.size();
  ::alarm(kMostSeconds);
}

void Watch::end() {
  ::alarm(0);
}

bool Watch::too_much_memory() const {
  return most_memory_so_far() > memory_at_start_ + kMostMemory;
}

std::filesystem::path Watch::save() const {
  save_input();
  return at_hand.file.data();
}

}  // namespace tessera::fuzz
