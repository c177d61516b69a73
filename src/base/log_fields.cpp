#include "base/log_fields.h"

#include <string_view>

namespace tessera::log {
namespace {

constexpr size_t kTime = std::string_view("[2026-11-15 10:12:01] ").size();
constexpr std::string_view kGap = "  ";

}  // namespace

std::string fields(const std::vector<std::string>& all) {
  std::string text;
  size_t column = kTime;
  for (const std::string& field : all) {
    const bool first = text.empty();
    if (!first && column + kGap.size() + field.size() > kColumns) {
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

}  // namespace tessera::log
