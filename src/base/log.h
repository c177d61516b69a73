#pragma once

#include <fmt/core.h>

#include <utility>

// What the program says while it works, on stderr, one line a message:
//   [2026-11-15 10:12:01] 2,000 steps, loss 1.234
//   [2026-11-15 10:12:01] warn: 3 of 160,239 pairs are empty, left out
// stdout is for data and is never written to. Safe to call from several threads.
namespace tessera::log {

// How much is said.
enum class Level {
  debug,   // everything
  normal,  // all but debug()
  quiet,   // warnings and errors only; progress says nothing
};

void set_level(Level level);  // for the whole process; Level::normal at the start
Level level();

// Called before every line that is written, so that a progress bar can make way. nullptr: none.
void set_before_line(void (*hook)());

namespace detail {
enum class Severity { debug, info, warn, error };
void write(Severity severity, fmt::string_view format, fmt::format_args args);
}  // namespace detail

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(detail::Severity::debug, format, fmt::make_format_args(args...));
}

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(detail::Severity::info, format, fmt::make_format_args(args...));
}

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(detail::Severity::warn, format, fmt::make_format_args(args...));
}

template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(detail::Severity::error, format, fmt::make_format_args(args...));
}

}  // namespace tessera::log
