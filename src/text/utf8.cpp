#include "text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tessera::text {
namespace {

using Byte = unsigned char;

struct Step {
  size_t size;  // bytes to advance
  bool valid;
};

bool is_ascii_word(const char* eight_bytes) {
  uint64_t word;
  std::memcpy(&word, eight_bytes, sizeof word);
  return (word & 0x8080808080808080ULL) == 0;
}

// The range of the second byte excludes overlong forms, surrogates and numbers that are too large
// (Unicode, table 3-7). An ill-formed sequence is as long as it could have been the beginning of a
// well-formed one.
Step step(std::string_view text, size_t position) {
  const Byte first = text[position];
  if (first < 0x80) return {1, true};
  size_t size;
  Byte low = 0x80, high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    size = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    size = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    size = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (size_t k = 1; k < size; ++k) {
    if (position + k >= text.size()) return {k, false};
    const Byte next = text[position + k];
    if (next < low || next > high) return {k, false};
    low = 0x80, high = 0xBF;
  }
  return {size, true};
}

char32_t code_point(std::string_view sequence) {
  const auto bits = [&](size_t k) { return static_cast<char32_t>(sequence[k] & 0x3F); };
  const Byte first = sequence[0];
  switch (sequence.size()) {
    case 1:
      return first;
    case 2:
      return (first & 0x1FU) << 6 | bits(1);
    case 3:
      return (first & 0x0FU) << 12 | bits(1) << 6 | bits(2);
    default:
      return (first & 0x07U) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3);
  }
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    if (position + 8 <= text.size() && is_ascii_word(text.data() + position)) {
      position += 8;
      continue;
    }
    const Step next = step(text, position);
    if (!next.valid) return position;
    position += next.size;
  }
  return std::string_view::npos;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const Step next = step(text, position);
    if (next.valid)
      result += text.substr(position, next.size);
    else
      append_utf8(result, kReplacementCharacter);
    position += next.size;
  }
  return result;
}

size_t code_point_size(std::string_view text, size_t position) {
  const Byte first = text[position];
  const size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return std::min(size, text.size() - position);
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const Step next = step(text, position);
    result += next.valid ? code_point(text.substr(position, next.size)) : kReplacementCharacter;
    position += next.size;
  }
  return result;
}

void append_utf8(std::string& text, char32_t c) {
  const auto tail = [](char32_t bits) { return static_cast<char>(0x80 | (bits & 0x3F)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += {static_cast<char>(0xC0 | c >> 6), tail(c)};
  } else if (c < 0x10000) {
    text += {static_cast<char>(0xE0 | c >> 12), tail(c >> 6), tail(c)};
  } else {
    text += {static_cast<char>(0xF0 | c >> 18), tail(c >> 12), tail(c >> 6), tail(c)};
  }
}

std::string encode_utf8(std::u32string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char32_t c : text) append_utf8(result, c);
  return result;
}

CharacterClass character_class(char32_t c) {
  // Control characters that Unicode counts as white space.
  if (c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85) return CharacterClass::blank;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterClass::letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
      return CharacterClass::extend;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::digit;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return CharacterClass::blank;
    default:
      return CharacterClass::other;
  }
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string normalise_blanks(std::string_view text) {
  std::string result;
  bool blank = false;
  for (const char32_t c : decode_utf8(text)) {
    if (character_class(c) == CharacterClass::blank) {
      blank = true;
      continue;
    }
    if (blank && !result.empty()) result += ' ';
    blank = false;
    append_utf8(result, c);
  }
  return result;
}

}  // namespace tessera::text
