#include "files/own_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "files/files.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

Error link_error(const fs::path& path) {
  return Error(fmt::format("'{}' is a symbolic link: the file it points to would be overwritten",
                           path.string()),
               "remove the link, or choose another folder");
}

}  // namespace

void refuse_link(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(path, ignored))) throw link_error(path);
}

int open_own_file(const fs::path& path, int access) {
  // O_NONBLOCK: opening a pipe that nobody reads would wait. It does not affect regular files.
  const int flags = access | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int descriptor = ::open(path.c_str(), flags, 0666);
  if (descriptor < 0 && errno == ELOOP) throw link_error(path);
  if (descriptor < 0 && errno != ENXIO) throw file_error("write", path, errno);
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (descriptor >= 0) ::close(descriptor);
    throw Error(fmt::format("cannot write '{}': not a regular file", path.string()));
  }
  return descriptor;
}

}  // namespace tessera
