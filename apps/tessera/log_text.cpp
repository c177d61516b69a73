#include "log_text.h"

#include "terminal.h"

#include <string_view>

namespace tessera::app {
namespace {

constexpr size_t kTime = std::string_view("[2026-11-15 10:12:01] ").size();
constexpr std::string_view kGap = "  ";

}  // namespace

std::string wrapped_fields(const std::vector<std::string>& fields) {
  std::string text;
  size_t column = kTime;
  for (const std::string& field : fields) {
    const bool first = text.empty();
    if (!first && column + kGap.size() + field.size() > kLogColumns) {
      text += '\n' + std::string(kTime, ' ');
      column = kTime;
    }
    if (!first) {
      text += kGap;
      column += kGap.size();
    }
    text += field;
    column += field.size();
  }
  return text;
}

std::string log_text(const LogLine& line) {
  switch (line.severity) {
    case Severity::debug:
      return "debug: " + line.text;
    case Severity::info:
      return line.fields.empty() ? line.text : wrapped_fields(line.fields);
    case Severity::highlight:
      return painted(Paint::bold, line.text);
    case Severity::warning:
      return painted(Paint::yellow, "warn:") + ' ' + line.text;
    case Severity::error:
      return painted(Paint::red, "error:") + ' ' + line.text;
  }
  return line.text;
}

}  // namespace tessera::app
