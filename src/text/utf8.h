#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::text {

constexpr char32_t kReplacementCharacter = 0xFFFD;

// The position of the first byte that is not part of well-formed UTF-8 (overlong forms, surrogates
// and numbers past U+10FFFF are not well-formed); npos if there is none.
size_t find_invalid_utf8(std::string_view text);

// The text with every ill-formed sequence replaced by one U+FFFD, as Python and browsers do it.
std::string replace_invalid_utf8(std::string_view text);

// Number of bytes of the code point that begins at `position` (which must be inside): from its
// first byte, cut at the end of the text. On ill-formed text some number from 1 to 4.
size_t code_point_size(std::string_view text, size_t position);

std::u32string decode_utf8(std::string_view text);  // ill-formed sequences become U+FFFD
void append_utf8(std::string& text, char32_t code_point);
std::string encode_utf8(std::u32string_view text);

// The class of a code point, for splitting text into words.
enum class CharacterClass {
  letter,
  digit,   // any number: decimal, letter-like, fractions
  extend,  // combining marks and format characters: part of what they follow
  blank,   // white space of any kind, line separators included
  other,   // punctuation, symbols, control characters, unassigned
};
CharacterClass character_class(char32_t code_point);

// Without the byte-order mark that some editors begin a file with.
std::string_view without_mark(std::string_view text);

// Every run of blanks becomes one space; none at the ends.
std::string normalise_blanks(std::string_view text);

}  // namespace tessera::text
