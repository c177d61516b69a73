#include <tessera/base/languages.h>

#include "base/language_code.h"
#include "base/require.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr size_t kLongestCode = 35, kLongestPart = 8;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool is_language_code(std::string_view text) {
  if (text.size() > kLongestCode) return false;
  for (bool first = true; first || !text.empty(); first = false) {
    const size_t end = std::min(text.find('-'), text.size());
    const std::string_view part = text.substr(0, end);
    const bool fits = std::all_of(part.begin(), part.end(),
                                  [&](char c) { return is_letter(c) || (!first && is_digit(c)); });
    if (!fits || part.size() < (first ? 2 : 1) || part.size() > kLongestPart) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
  return false;  // ends with a hyphen
}

std::string lower_case_code(std::string_view code) {
  std::string lower(code);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

Languages parse_languages(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view source = text.substr(0, colon);
  const std::string_view target = colon == text.npos ? "" : text.substr(colon + 1);
  if (!is_language_code(source) || !is_language_code(target))
    throw UsageError(fmt::format("languages are two codes with a colon between, got '{}'", text),
                     "for German to English: de:en");
  return {lower_case_code(source), lower_case_code(target)};
}

}  // namespace tessera
