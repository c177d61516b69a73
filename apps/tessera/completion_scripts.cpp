#include "completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::app {

std::string short_help(std::string_view help) {
  constexpr size_t kMost = 76;
  if (help.size() <= kMost) return std::string(help);
  // A blank never lies within a character of UTF-8.
  return std::string(help.substr(0, help.rfind(' ', kMost))) + " ...";
}

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string with_blanks(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace tessera::app
