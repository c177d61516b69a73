#include "base/log.h"

#include "base/visible_text.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/highlight.h"
#include "base/terminal.h"

namespace tessera::log {
namespace {

std::atomic<Level> current_level{Level::normal};
std::atomic<void (*)()> before_line{nullptr};

// Never destroyed: destructors of other static objects may still want to say something.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("tessera", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("[%Y-%m-%d %H:%M:%S] %v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

bool is_said(detail::Severity severity) {
  switch (level()) {
    case Level::debug:
      return true;
    case Level::normal:
      return severity != detail::Severity::debug;
    case Level::quiet:
      return severity == detail::Severity::warn || severity == detail::Severity::error;
  }
  return true;
}

void write_line(const std::string& text) {
  if (auto* hook = before_line.load()) hook();
  logger().info("{}", text);
}

}  // namespace

void set_level(Level level) {
  current_level = level;
}

Level level() {
  return current_level;
}

void set_before_line(void (*hook)()) {
  before_line = hook;
}

void detail::write(Severity severity, fmt::string_view format, fmt::format_args args) {
  if (!is_said(severity)) return;
  const std::string text = visible(fmt::vformat(format, args));
  switch (severity) {
    case Severity::debug:
      return write_line("debug: " + text);
    case Severity::info:
      return write_line(text);
    case Severity::warn:
      return write_line(painted(Paint::yellow, "warn:") + ' ' + text);
    case Severity::error:
      return write_line(painted(Paint::red, "error:") + ' ' + text);
  }
}

void highlight(std::string_view text) {
  if (is_said(detail::Severity::info)) write_line(painted(Paint::bold, visible(text)));
}

}  // namespace tessera::log
