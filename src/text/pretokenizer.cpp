#include "text/pretokenizer.h"

#include "text/utf8.h"

#include <algorithm>

namespace tessera::text {
namespace {

constexpr char32_t kMark = U'￭', kEscape = U'％';
constexpr std::string_view kMarkText = "￭", kEscapeText = "％";
constexpr std::string_view kEscapedMark = "％ffed", kEscapedEscape = "％ff05";

bool is_apostrophe(char32_t c) {
  return c == U'\'' || c == U'’';
}
bool is_hyphen(char32_t c) {
  return c == U'-' || c == U'‐' || c == U'‑';
}

// Where tokens begin and end in a text.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(decode_utf8(text)) {
    classes_.reserve(text_.size());
    for (const char32_t c : text_) classes_.push_back(character_class(c));
  }

  std::vector<std::string> tokens() {
    for (size_t begin = 0; begin < text_.size();) {
      if (classes_[begin] == CharacterClass::blank) {
        glued_ = false;
        ++begin;
        continue;
      }
      const bool word = is_word(begin);
      const bool clitic = !word && is_clitic(begin);
      const size_t end = word ? word_end(begin) : clitic ? word_end(begin + 1) : run_end(begin);
      add(begin, end, word);
      begin = end;
    }
    return std::move(tokens_);
  }

 private:
  CharacterClass class_at(size_t k) const {
    return k < text_.size() ? classes_[k] : CharacterClass::blank;
  }
  bool is_word(size_t k) const {
    const CharacterClass c = class_at(k);
    return c == CharacterClass::letter || c == CharacterClass::digit || c == CharacterClass::extend;
  }

  // The class of the last character before k that is not a combining mark: the marks belong to it.
  CharacterClass class_before(size_t k) const {
    while (k > 0 && classes_[k - 1] == CharacterClass::extend) --k;
    return k > 0 ? classes_[k - 1] : CharacterClass::blank;
  }

  // An apostrophe inside a word, as in "don't".
  bool is_clitic(size_t k) const {
    return is_apostrophe(text_[k]) && class_before(k) == CharacterClass::letter &&
           class_at(k + 1) == CharacterClass::letter;
  }

  bool is_inside_word(size_t k) const {
    const CharacterClass before = class_before(k), after = class_at(k + 1);
    if (text_[k] == U'.' || text_[k] == U',')
      return before == CharacterClass::digit && after == CharacterClass::digit;
    const auto is_plain = [](CharacterClass c) {
      return c == CharacterClass::letter || c == CharacterClass::digit;
    };
    return is_hyphen(text_[k]) && is_plain(before) && is_plain(after);
  }

  size_t word_end(size_t k) const {
    while (k < text_.size() && (is_word(k) || is_inside_word(k))) ++k;
    return k;
  }

  size_t run_end(size_t begin) const {
    size_t end = begin + 1;
    while (end < text_.size() && text_[end] == text_[begin] && text_[begin] != U'@') ++end;
    while (class_at(end) == CharacterClass::extend) ++end;
    return end;
  }

  void add(size_t begin, size_t end, bool word) {
    std::string token;
    // The mark goes to whichever of the two is punctuation.
    if (glued_ && !word) token += kMarkText;
    if (glued_ && word) tokens_.back() += kMarkText;
    for (size_t k = begin; k < end; ++k) {
      if (text_[k] == kMark)
        token += kEscapedMark;
      else if (text_[k] == kEscape)
        token += kEscapedEscape;
      else
        append_utf8(token, text_[k]);
    }
    tokens_.push_back(std::move(token));
    glued_ = true;
  }

  std::u32string text_;
  std::vector<CharacterClass> classes_;
  std::vector<std::string> tokens_;
  bool glued_ = false;  // nothing stands between the last token and the next
};

void append_unescaped(std::string_view token, std::string& out) {
  while (!token.empty()) {
    const size_t escape = std::min(token.find(kEscapeText), token.size());
    out += token.substr(0, escape);
    token.remove_prefix(escape);
    if (token.empty()) return;
    if (token.starts_with(kEscapedMark)) {
      out += kMarkText;
      token.remove_prefix(kEscapedMark.size());
    } else {
      out += kEscapeText;
      token.remove_prefix(token.starts_with(kEscapedEscape) ? kEscapedEscape.size()
                                                            : kEscapeText.size());
    }
  }
}

}  // namespace

std::vector<std::string> pretokenize(std::string_view text) {
  return Splitter(text).tokens();
}

std::string pretokenize_line(std::string_view text) {
  std::string line;
  for (const std::string& token : pretokenize(text)) {
    if (!line.empty()) line += ' ';
    line += token;
  }
  return line;
}

std::string detokenize(std::string_view tokens) {
  std::string text;
  bool glue = true;
  while (!tokens.empty()) {
    const size_t size = std::min(tokens.find(' '), tokens.size());
    std::string_view token = tokens.substr(0, size);
    tokens.remove_prefix(std::min(tokens.size(), size + 1));
    if (token.empty()) continue;
    if (!glue && !token.starts_with(kMarkText)) text += ' ';
    glue = token.ends_with(kMarkText);
    // A model may join pieces so that marks are inside a token.
    while (!token.empty()) {
      const size_t mark = std::min(token.find(kMarkText), token.size());
      append_unescaped(token.substr(0, mark), text);
      token.remove_prefix(std::min(token.size(), mark + kMarkText.size()));
    }
  }
  return text;
}

}  // namespace tessera::text
