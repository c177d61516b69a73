#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/log_sink.h"

// Sends messages of the library, one line each, to the sink that the program has set
// (set_log_sink). Without a sink they are dropped. Safe to call from several threads.
namespace tessera::log {

namespace detail {
void write(Severity severity, fmt::string_view format, fmt::format_args args);
}  // namespace detail

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(Severity::debug, format, fmt::make_format_args(args...));
}

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(Severity::info, format, fmt::make_format_args(args...));
}

// What a person waits for.
template <class... Args>
void highlight(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(Severity::highlight, format, fmt::make_format_args(args...));
}

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(Severity::warning, format, fmt::make_format_args(args...));
}

template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  detail::write(Severity::error, format, fmt::make_format_args(args...));
}

// A list as one line of information: "step 200", "loss 1.23", two blanks apart.
void fields(std::vector<std::string> all);

}  // namespace tessera::log
