#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

// A text as sentences and the white space between them.
struct SentenceSplit {
  std::vector<std::string> sentences;  // none is empty, none begins or ends with a blank
  std::vector<std::string> gaps;       // one more: before the first, between them, after the last
};

struct SentenceOptions {
  bool line_ends = true;  // a line end ends a sentence; false: it is a blank like others
};

// Splits by rules for German, English, French and Spanish; other languages share most of them.
// - A sentence ends after . ? ! … and the closing quotes and brackets behind them, where a blank
//   follows and then an upper-case letter, a digit, a letter of a script without cases, or an
//   opening quote, bracket or dash. The marks of Chinese and Japanese need no blank.
// - A dot does not end one after a single letter ("z. B.", "J. S. Bach"), after an abbreviation
//   that something must follow ("Dr.", "vgl."; "Nr.", "p." where a number follows), after the
//   number of a list or of a date ("1. Der Hund", "3. Oktober").
// Where it is unclear, two sentences stay together rather than that one is torn apart. There is no
// limit of length: what a model cannot read of a sentence is cut off and TextResult::truncated set.
//
// join_sentences(split_sentences(x)) == x for all valid UTF-8; ill-formed sequences become U+FFFD.
SentenceSplit split_sentences(std::string_view text, const SentenceOptions& options = {});
std::string join_sentences(const SentenceSplit& split);

}  // namespace tessera::text
