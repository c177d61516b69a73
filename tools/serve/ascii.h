#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Letters without regard to the locale, as names in HTTP, HTML and languages are compared.
namespace tessera::serve {

inline char lower_ascii(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

inline std::string lower_ascii(std::string_view text) {
  std::string result(text);
  for (char& byte : result) byte = lower_ascii(byte);
  return result;
}

inline bool is_ascii_letter(char byte) {
  return lower_ascii(byte) >= 'a' && lower_ascii(byte) <= 'z';
}

inline bool is_ascii_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

// The value of a hexadecimal digit; 16: it is none.
inline unsigned hexadecimal_digit(char byte) {
  if (is_ascii_digit(byte)) return static_cast<unsigned>(byte - '0');
  const char letter = lower_ascii(byte);
  return letter >= 'a' && letter <= 'f' ? static_cast<unsigned>(letter - 'a' + 10) : 16;
}

inline bool same_ascii(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right,
                            [](char a, char b) { return lower_ascii(a) == lower_ascii(b); });
}

}  // namespace tessera::serve
