#pragma once

#include <string_view>

namespace tessera::text {

// The likely encoding of a text that is not UTF-8, by a name that iconv knows: UTF-32, UTF-16,
// UTF-16LE, UTF-16BE (by byte-order marks, or by the positions of its NUL bytes), ISO-8859-1 or
// WINDOWS-1252 (single letters with accents within plain ones). Empty: none of these.
//   sample  the beginning of the text, or some of its lines; a few hundred bytes are enough
std::string_view guess_encoding(std::string_view sample);

}  // namespace tessera::text
