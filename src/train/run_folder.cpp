#include "train/run_folder.h"

#include "base/files.h"
#include "base/log.h"
#include "base/require.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tessera::train {
namespace fs = std::filesystem;
namespace {

bool has_file(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(folder / name, ignored);
}

bool has_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void refuse_second_run(const fs::path& path) {
  if (RunFolder::is_one(path))
    throw Error(fmt::format("'{}' holds a run already", path.string()),
                fmt::format("'tessera train --resume {}' goes on with it; for a new run choose "
                            "another folder (train.out)",
                            path.string()));
}

// Who holds the lock, as " (process 123)".
std::string holder(int lock_file) {
  char digits[24];
  const ssize_t length = ::pread(lock_file, digits, sizeof digits, 0);
  if (length <= 0 ||
      !std::all_of(digits, digits + length, [](char c) { return c >= '0' && c <= '9'; }))
    return "";
  return fmt::format(" (process {})", std::string_view(digits, static_cast<size_t>(length)));
}

void sign(int lock_file) {
  const std::string text = std::to_string(::getpid());
  // Only for the message of whoever comes next: a full disk is no reason not to train.
  if (::ftruncate(lock_file, 0) != 0 || ::pwrite(lock_file, text.data(), text.size(), 0) < 0)
    log::debug("the lock file cannot be written to");
}

}  // namespace

bool RunFolder::is_one(const fs::path& path) {
  return has_file(path, "config.toml");
}

RunFolder RunFolder::create(const fs::path& path) {
  refuse_second_run(path);
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) throw file_error("make the folder", path, failure.value());
  RunFolder run(path);
  run.lock();
  refuse_second_run(path);  // another one may have come and gone
  return run;
}

RunFolder RunFolder::open(const fs::path& path) {
  require(has_folder(path), "there is no run folder '{}'", path.string());
  if (!is_one(path))
    throw Error(fmt::format("'{}' is not a run folder: it has no config.toml", path.string()),
                "'tessera train RECIPE train.out=FOLDER' makes one");
  return RunFolder(path);
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

void RunFolder::lock() {
  if (lock_ >= 0) return;
  const int descriptor = ::open(lock_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw file_error("write", lock_file(), errno);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    const std::string who = holder(descriptor);
    if (code == EWOULDBLOCK) {
      ::close(descriptor);
      throw Error(fmt::format("another training{} is at work in '{}'", who, path_.string()),
                  "wait for its end or stop it, or choose another folder (train.out)");
    }
    log::warn("this file system has no locks: see to it that only one process trains in '{}'",
              path_.string());
  }
  lock_ = descriptor;
  sign(lock_);
}

void RunFolder::write_config(std::string_view toml) const {
  write_file_atomically(config(), toml);
}

}  // namespace tessera::train
