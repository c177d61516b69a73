#include "text_metric/tokenization.h"

#include "text_metric/replace_all.h"

#include <utf8proc.h>

#include <array>

namespace tessera::text_metric {
namespace {

struct Character {
  char32_t code = 0;
  size_t size = 1;  // bytes
};

// Bytes that are not UTF-8 become lone surrogates, which no text contains otherwise.
Character character_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {byte, 1};
  utf8proc_int32_t code = 0;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                     static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (size <= 0) return {char32_t{0xDC00} + byte, 1};
  return {static_cast<char32_t>(code), static_cast<size_t>(size)};
}

// What Python's str.split() treats as white space: the separators of Unicode and of ASCII.
bool is_blank(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 ||
         code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

void append(std::string& text, char32_t code) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(size));
}

constexpr char32_t kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2, kCapitalDottedI = 0x130;

// Whether a character is ignored in the choice between the two small sigmas.
bool is_case_ignorable(char32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return code == '\'' || code == '.' || code == ':' || code == 0xB7 || code == 0x2018 ||
             code == 0x2019;
  }
}

bool is_cased(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

// Whether a letter follows the sigma just before `rest`.
bool word_goes_on(std::string_view rest) {
  for (size_t at = 0; at < rest.size();) {
    const Character next = character_at(rest, at);
    if (!is_case_ignorable(next.code)) return is_cased(next.code);
    at += next.size;
  }
  return false;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_point(char c) {
  return c == '.' || c == ',';
}

// ASCII punctuation, without the apostrophe, comma, hyphen and full stop.
bool is_separate_punctuation(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

// The passes below look at pairs of neighbours from the left and never use a byte twice, like the
// substitution of a regular expression: in "..", the second full stop does not come after anything.
template <class IsPair, class Write>
std::string rewrite_pairs(const std::string& text, IsPair is_pair, Write write) {
  std::string result;
  result.reserve(text.size() + 16);
  for (size_t at = 0; at < text.size(); ++at) {
    if (at + 1 < text.size() && is_pair(text[at], text[at + 1])) {
      write(result, text[at], text[at + 1]);
      ++at;
    } else {
      result += text[at];
    }
  }
  return result;
}

void write_second_apart(std::string& out, char first, char second) {
  out += first;
  out += ' ';
  out += second;
  out += ' ';
}

void write_first_apart(std::string& out, char first, char second) {
  out += ' ';
  out += first;
  out += ' ';
  out += second;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t at = 0; at < line.size();) {
    const Character character = character_at(line, at);
    if (is_blank(character.code)) {
      if (at > begin) words.push_back(line.substr(begin, at - begin));
      begin = at + character.size;
    }
    at += character.size;
  }
  if (line.size() > begin) words.push_back(line.substr(begin));
  return words;
}

std::string lowercase(std::string_view line) {
  std::string result;
  result.reserve(line.size());
  bool within_word = false;  // whether a letter comes before, ignoring marks
  for (size_t at = 0; at < line.size();) {
    const Character character = character_at(line, at);
    const auto code = static_cast<utf8proc_int32_t>(character.code);
    const std::string_view bytes = line.substr(at, character.size);
    at += character.size;
    if (character.code < 0x80) {
      result += bytes[0] >= 'A' && bytes[0] <= 'Z' ? static_cast<char>(bytes[0] + 32) : bytes[0];
    } else if (character.code == kCapitalDottedI) {
      result += "i\u0307";
    } else if (character.code == kCapitalSigma && within_word && !word_goes_on(line.substr(at))) {
      append(result, kFinalSigma);
    } else if (const auto small = utf8proc_tolower(code); small != code) {
      append(result, static_cast<char32_t>(small));
    } else {
      result += bytes;
    }
    if (!is_case_ignorable(character.code)) within_word = is_cased(character.code);
  }
  return result;
}

std::string separate_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  // Blanks at both ends, so that every character has neighbours.
  std::string apart = " ";
  apart.reserve(text.size() + 16);
  for (const char c : text) {
    if (is_separate_punctuation(c)) {
      apart += ' ';
      apart += c;
      apart += ' ';
    } else {
      apart += c;
    }
  }
  apart += ' ';

  // Full stops and commas stay attached within numbers only; a dash after a digit is split off.
  apart = rewrite_pairs(
      apart, [](char a, char b) { return !is_digit(a) && is_point(b); }, write_second_apart);
  apart = rewrite_pairs(
      apart, [](char a, char b) { return is_point(a) && !is_digit(b); }, write_first_apart);
  return rewrite_pairs(
      apart, [](char a, char b) { return is_digit(a) && b == '-'; }, write_second_apart);
}

std::vector<char32_t> visible_characters(std::string_view line) {
  std::vector<char32_t> characters;
  characters.reserve(line.size());
  for (size_t at = 0; at < line.size();) {
    const Character character = character_at(line, at);
    if (!is_blank(character.code)) characters.push_back(character.code);
    at += character.size;
  }
  return characters;
}

}  // namespace tessera::text_metric
