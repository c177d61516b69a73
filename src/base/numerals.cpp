#include "base/numerals.h"

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

}  // namespace tessera
