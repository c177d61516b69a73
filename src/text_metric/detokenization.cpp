#include "text_metric/detokenization.h"

#include "text_metric/replace_all.h"
#include "text_metric/tokenization.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace tessera::text_metric {
namespace {

// What Moses' tokenizer writes for characters that are special to its other programs. &amp; comes
// last, so that nothing is replaced twice.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kMarks{{{"&bar;", "|"},
                                                                                {"&#124;", "|"},
                                                                                {"&lt;", "<"},
                                                                                {"&gt;", ">"},
                                                                                {"&bra;", "["},
                                                                                {"&ket;", "]"},
                                                                                {"&quot;", "\""},
                                                                                {"&apos;", "'"},
                                                                                {"&#91;", "["},
                                                                                {"&#93;", "]"},
                                                                                {"&amp;", "&"}}};

// Whether a word consists of these pieces alone.
bool made_of(std::string_view word, const std::vector<std::string_view>& pieces) {
  while (!word.empty()) {
    bool found = false;
    for (const std::string_view piece : pieces) {
      if (!word.starts_with(piece)) continue;
      word.remove_prefix(piece.size());
      found = true;
      break;
    }
    if (!found) return false;
  }
  return true;
}

const std::vector<std::string_view> kOpening{"$", "(", "[", "{", "¿", "¡"};
const std::vector<std::string_view> kClosing{",",  ".", "?", "!", ":", ";",
                                             "\\", "%", "}", "]", ")"};
const std::vector<std::string_view> kQuotes{"'", "\"", "„", "“", "”", "`"};
const std::vector<std::string_view> kDoubleQuotes{"„", "“", "”"};

bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

}  // namespace

std::string join_moses(std::string_view line) {
  std::string text;
  for (const std::string_view word : split_words(line)) text.append(" ").append(word);
  text += ' ';
  replace_all(text, " @-@ ", "-");
  for (const auto& [mark, character] : kMarks) replace_all(text, mark, character);

  std::string result;
  std::string_view before;            // the word before this one
  bool apart = false;                 // whether a blank comes before the next word
  std::map<std::string, int> quotes;  // how many of each kind have been seen
  for (const std::string_view word : split_words(text)) {
    bool joined_before = false, joined_after = false;
    if (made_of(word, kOpening)) {
      joined_after = true;
    } else if (made_of(word, kClosing)) {
      joined_before = true;
    } else if (!before.empty() && word.size() > 1 && word[0] == '\'' && is_letter(word[1])) {
      joined_before = true;  // 's, 're
    } else if (made_of(word, kQuotes)) {
      const std::string kind = made_of(word, kDoubleQuotes) ? "\"" : std::string(word);
      const bool opens = quotes[kind] % 2 == 0;
      if (opens && kind == "'" && before.ends_with('s')) {
        joined_before = true;  // the students' books
      } else {
        joined_before = !opens;
        joined_after = opens;
        ++quotes[kind];
      }
    }
    if (apart && !joined_before) result += ' ';
    result += word;
    apart = !joined_after;
    before = word;
  }
  return result;
}

}  // namespace tessera::text_metric
