#pragma once

#include <tessera/base/error.h>

#include <fmt/format.h>

namespace tessera {

// Throws Error with the formatted message unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw Error(fmt::format(message, std::forward<Args>(args)...));
}

// The same for options: UsageError.
template <class... Args>
void require_option(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw UsageError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace tessera
