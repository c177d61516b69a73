#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/base/error.h"

namespace tessera {

// A system call on a file that failed.
class FileError : public Error {
 public:
  FileError(const std::string& message, std::string hint, int code)
      : Error(message, std::move(hint)), code_(code) {}

  int code() const noexcept { return code_; }  // errno

  // Whether there is no such file. Otherwise it may exist but be out of reach now: permissions, a
  // network disk.
  bool missing() const noexcept;

 private:
  int code_;
};

// The error of a failed system call: "cannot {action} '{path}': {text of errno}", with a hint if
// the cause is a full disk.
FileError file_error(std::string_view action, const std::filesystem::path& path, int code);

}  // namespace tessera
