#include "files/regular_file.h"

#include "files/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tessera {
namespace fs = std::filesystem;
namespace {

Error too_large(const fs::path& path, uint64_t most) {
  return Error(fmt::format("'{}' has more than {} MiB, the most such a file may have",
                           path.string(), most >> 20),
               "is it the file you mean?");
}

class Descriptor {
 public:
  explicit Descriptor(const fs::path& path) : value_(open_regular_file(path)) {}
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }
  // Some system files have a size of 0 but do have content.
  uint64_t size() const {
    struct stat status {};
    return ::fstat(value_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
  }

 private:
  const int value_;
};

}  // namespace

int open_regular_file(const fs::path& path) {
  // O_NONBLOCK: opening a pipe would wait for someone to write to it.
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) throw file_error("read", path, errno);
  struct stat status {};
  const int failure = ::fstat(opened, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (failure == 0 && S_ISREG(status.st_mode)) return opened;
  ::close(opened);
  if (failure != 0) throw file_error("read", path, failure);
  throw Error(fmt::format("cannot read '{}': not a regular file", path.string()));
}

void require_regular_file(const fs::path& path, uint64_t most) {
  if (Descriptor(path).size() > most) throw too_large(path, most);
}

std::string read_file(const fs::path& path, uint64_t most) {
  const Descriptor opened(path);
  const uint64_t size = opened.size();
  if (size > most) throw too_large(path, most);
  // One more than the size, so that the read after the last byte finds the end.
  std::string bytes(size + 1, '\0');
  size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(std::max<size_t>(4096, 2 * bytes.size()));
    const ssize_t got = ::read(opened.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > most) throw too_large(path, most);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace tessera
