#pragma once

#include <c10/util/Exception.h>

#include <string_view>

namespace tessera {

// Whether an error of LibTorch says that memory has run out. Devices have an error type for it; on
// the CPU only the message tells.
inline bool is_out_of_memory(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  const std::string_view text = error.what_without_backtrace();
  return text.find("can't allocate memory") != std::string_view::npos;
}

}  // namespace tessera
