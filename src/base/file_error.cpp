#include "base/file_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace tessera {

bool FileError::missing() const noexcept {
  return code_ == ENOENT || code_ == ENOTDIR;
}

FileError file_error(std::string_view action, const std::filesystem::path& path, int code) {
  std::string hint;
  if (code == ENOSPC) hint = "the disk is full: free some space or choose another folder";
  if (code == EDQUOT) hint = "your disk quota is used up: free some space or choose another folder";
  if (code == EFBIG) hint = "the file is larger than the limit of this process (ulimit -f) allows";
  return FileError(fmt::format("cannot {} '{}': {}", action, path.string(),
                               std::generic_category().message(code)),
                   std::move(hint), code);
}

}  // namespace tessera
