#include "base/numerals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera {

std::string with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string counted(int64_t number, std::string_view one, std::string_view several) {
  const std::string many = several.empty() ? std::string(one) + "s" : std::string(several);
  return std::to_string(number) + " " + (number == 1 ? std::string(one) : many);
}

std::string short_count(int64_t number) {
  return number < 100000 ? fmt::format("{}", number) : fmt::format("{:.1f} M", number / 1e6);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e15)));
  const int64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days > 0) return fmt::format("{}d {:02}:{:02}:{:02}", days, hours, minutes, whole % 60);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace tessera
