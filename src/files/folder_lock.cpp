#include "files/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "base/log.h"
#include "files/own_file.h"

namespace tessera {
namespace {

// Who holds the lock; 0 if the file does not say.
pid_t holder(int lock_file) {
  char digits[24];
  const ssize_t length = ::pread(lock_file, digits, sizeof digits, 0);
  pid_t process = 0;
  if (length <= 0) return 0;
  const auto [end, failure] = std::from_chars(digits, digits + length, process);
  return failure == std::errc() && end == digits + length ? process : 0;
}

void sign(int lock_file) {
  const std::string text = std::to_string(::getpid());
  // Only for the message that the next process prints, so a full disk does not matter.
  if (::ftruncate(lock_file, 0) != 0 || ::pwrite(lock_file, text.data(), text.size(), 0) < 0)
    log::debug("the lock file cannot be written to");
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& file, const std::string& worker,
                       const std::string& hint, Sharing sharing) {
  const int descriptor = open_own_file(file, O_RDWR);
  const std::string folder = file.parent_path().string();
  const int kind = sharing == Sharing::none ? LOCK_EX : LOCK_SH;
  if (::flock(descriptor, kind | LOCK_NB) != 0) {
    const int code = errno;
    const pid_t process = holder(descriptor);
    if (code == EWOULDBLOCK) {
      ::close(descriptor);
      const std::string who = process > 0 ? fmt::format(" (process {})", process) : "";
      throw Held(fmt::format("another {}{} is at work in '{}'", worker, who, folder), hint,
                 process);
    }
    log::warn("this file system has no locks: make sure that only one {} is at work in '{}'",
              worker, folder);
  }
  descriptor_ = descriptor;
  sign(descriptor_);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace tessera
