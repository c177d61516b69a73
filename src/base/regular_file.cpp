#include "base/regular_file.h"

#include "base/descriptor.h"
#include "base/file_error.h"

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

// Some system files have a size of 0 but do have content.
uint64_t size_of(const Descriptor& opened) {
  struct stat status {};
  return ::fstat(opened.get(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

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
  if (size_of(Descriptor(open_regular_file(path))) > most) throw too_large(path, most);
}

std::string read_file(const fs::path& path, uint64_t most) {
  const Descriptor opened(open_regular_file(path));
  const uint64_t size = size_of(opened);
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
