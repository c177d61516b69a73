#pragma once

#include <tessera/base/error.h>

#include <fmt/format.h>

namespace tessera {

// Not inline: so a check costs its caller a call and no code for strings and exceptions.
[[noreturn]] void throw_error(fmt::string_view message, fmt::format_args arguments);
[[noreturn]] void throw_usage_error(fmt::string_view message, fmt::format_args arguments);

// Throws Error with the formatted message unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw_error(message, fmt::make_format_args(args...));
}

// The same for options: UsageError.
template <class... Args>
void require_option(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw_usage_error(message, fmt::make_format_args(args...));
}

}  // namespace tessera
