#pragma once

#include <tessera/base/api.h>

#include <stdexcept>
#include <string>

namespace tessera {

// What the library throws: the message says which argument or file is wrong and why, the hint (may
// be empty) what to do about it. The library never exits or aborts.
class TESSERA_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}

  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string hint_;
};

// A wrong option, configuration key or command line: the program ends with exit code 2 instead
// of 1.
class TESSERA_API UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera
