#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

// Splits real text into words and punctuation in such a way that it can be put together again. The
// mark U+FFED shows where a token was glued to its neighbour:
//   Hello, "world"!   ->   Hello ￭, "￭ world ￭" ￭!
// - A word is a run of letters and digits with their combining marks: no split between letters and
//   digits. Hyphens between them, and dots and commas between digits, are part of it ("T-Shirt",
//   "3.5", "10,000").
// - An apostrophe between letters begins a new token: "don ￭'t", "geht ￭'s".
// - Any other character is a token; a run of the same one is one token ("...").
// - Runs of blanks of every kind become one space between words, and blanks at the ends are
//   dropped: this is not restored.
// - The mark itself in a text is written ％ffed, and ％ (U+FF05) ％ff05.
// A token never ends in "@@", so that BPE's separators stay clear.
std::vector<std::string> pretokenize(std::string_view text);
std::string pretokenize_line(std::string_view text);  // the same, joined by spaces

// detokenize(pretokenize_line(x)) == normalise_blanks(x) for all valid UTF-8. Accepts any text:
// marks work even in places where pretokenize() would put none, and none stays in the text.
std::string detokenize(std::string_view tokens);

}  // namespace tessera::text
