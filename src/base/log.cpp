#include "base/log.h"

#include "base/visible_text.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <memory>

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
  if (auto* hook = before_line.load()) hook();
  switch (severity) {
    case Severity::debug:
      logger().debug("debug: {}", text);
      break;
    case Severity::info:
      logger().info("{}", text);
      break;
    case Severity::warn:
      logger().warn("{} {}", painted(Paint::yellow, "warn:"), text);
      break;
    case Severity::error:
      logger().error("{} {}", painted(Paint::red, "error:"), text);
      break;
  }
}

}  // namespace tessera::log
