#include "serve/markup.h"

#include "serve/ascii.h"
#include "serve/html_entities.h"
#include "text/utf8.h"

#include <algorithm>
#include <array>

namespace tessera::serve {
namespace {

bool is_space(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r';
}

template <size_t size>
bool is_listed(const std::array<std::string_view, size>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

// Elements whose content is not markup.
constexpr auto kRaw =
    std::to_array<std::string_view>({"script", "style", "xmp", "iframe", "noembed", "noframes"});
// The same, but with references: their content is text.
constexpr auto kText = std::to_array<std::string_view>({"title", "textarea"});
constexpr auto kKept = std::to_array<std::string_view>({"code", "kbd", "samp", "var"});
constexpr auto kPreformatted = std::to_array<std::string_view>({"pre", "listing", "textarea"});
constexpr auto kVoid =
    std::to_array<std::string_view>({"area", "base", "br", "col", "embed", "hr", "img", "input",
                                     "link", "meta", "source", "track", "wbr"});

struct Tag {
  std::string name = {};  // lower case
  bool closes = false;
  bool kept = false;  // its attributes say that the content is not to be translated
};

class MarkupParser {
 public:
  explicit MarkupParser(std::string_view html) : html_(html) {}

  std::vector<MarkupPiece> parse() {
    while (place_ < html_.size()) {
      if (html_[place_] == '<' && begins_markup(place_))
        read_markup();
      else
        read_text(html_.size(), /*tags=*/true);
    }
    return std::move(pieces_);
  }

 private:
  char at(size_t place) const { return place < html_.size() ? html_[place] : '\0'; }

  // Whether the '<' at `place` is more than text.
  bool begins_markup(size_t place) const {
    const char next = at(place + 1);
    return is_ascii_letter(next) || next == '!' || next == '?' ||
           (next == '/' && place + 2 < html_.size());
  }

  // Everything up to `end` stays as it is.
  void keep(size_t end) {
    if (end == place_) return;
    const std::string_view source = html_.substr(place_, end - place_);
    if (!pieces_.empty() && !pieces_.back().is_text) {
      std::string_view& last = pieces_.back().source;
      last = std::string_view(last.data(), last.size() + source.size());
    } else {
      pieces_.push_back({.source = source});
    }
    place_ = end;
  }

  size_t behind(std::string_view mark, size_t from) const {
    const size_t found = html_.find(mark, from);
    return found == std::string_view::npos ? html_.size() : found + mark.size();
  }

  void read_markup() {
    if (html_.substr(place_).starts_with("<!--")) return keep(comment_end());
    const bool closes = at(place_ + 1) == '/';
    if (!is_ascii_letter(at(place_ + (closes ? 2 : 1))))
      return keep(behind(">", place_ + 1));  // <!doctype html>, <?php ... >, </>
    const Tag tag = read_tag(closes);
    if (tag.closes)
      leave(tag);
    else
      enter(tag);
  }

  size_t comment_end() const {
    const size_t begin = place_ + 4;
    // "<!-->" and "<!--->" are comments, too.
    for (const std::string_view abrupt : {">", "->"})
      if (html_.substr(begin).starts_with(abrupt)) return begin + abrupt.size();
    for (size_t dashes = begin;; ++dashes) {
      dashes = html_.find("--", dashes);
      if (dashes == std::string_view::npos) return html_.size();
      const std::string_view rest = html_.substr(dashes + 2);
      if (rest.starts_with(">")) return dashes + 3;
      if (rest.starts_with("!>")) return dashes + 4;
    }
  }

  // Keeps a tag and says what it is. Quotes count only around the value of an attribute.
  Tag read_tag(bool closes) {
    size_t place = place_ + (closes ? 2 : 1);
    const size_t begin = place;
    while (place < html_.size() && !is_space(html_[place]) && html_[place] != '/' &&
           html_[place] != '>')
      ++place;
    Tag tag{.name = lower_ascii(html_.substr(begin, place - begin)), .closes = closes};
    while (place < html_.size() && html_[place] != '>') {
      if (is_space(html_[place]) || html_[place] == '/') {
        ++place;
        continue;
      }
      const std::string name = attribute_name(place);
      const std::string_view value = attribute_value(place);
      if (name == "translate") tag.kept = lower_ascii(value) == "no";
      if (name == "class" && has_word(value, "notranslate")) tag.kept = true;
    }
    keep(std::min(place + 1, html_.size()));
    return tag;
  }

  std::string attribute_name(size_t& place) const {
    const size_t begin = place++;  // even a '=' may begin a name
    while (place < html_.size() && !is_space(html_[place]) && html_[place] != '/' &&
           html_[place] != '>' && html_[place] != '=')
      ++place;
    return lower_ascii(html_.substr(begin, place - begin));
  }

  std::string_view attribute_value(size_t& place) const {
    size_t begin = after_spaces(place);
    if (at(begin) != '=') return {};
    begin = after_spaces(begin + 1);
    const char quote = at(begin);
    size_t end = begin;
    if (quote == '"' || quote == '\'') {
      end = std::min(html_.find(quote, ++begin), html_.size());
      place = std::min(end + 1, html_.size());
    } else {
      while (end < html_.size() && !is_space(html_[end]) && html_[end] != '>') ++end;
      place = end;
    }
    return html_.substr(begin, end - begin);
  }

  size_t after_spaces(size_t place) const {
    while (place < html_.size() && is_space(html_[place])) ++place;
    return place;
  }

  static bool has_word(std::string_view list, std::string_view word) {
    for (size_t begin = 0; begin < list.size(); ++begin) {
      size_t end = begin;
      while (end < list.size() && !is_space(list[end])) ++end;
      if (list.substr(begin, end - begin) == word) return true;
      begin = end;
    }
    return false;
  }

  void enter(const Tag& tag) {
    if (tag.name == "plaintext") return keep(html_.size());
    if (is_listed(kRaw, tag.name)) return keep(closing_tag(tag.name));
    if (is_listed(kVoid, tag.name)) return;
    if (kept_depth_ > 0) {
      if (tag.name == kept_) ++kept_depth_;
    } else if (tag.kept || is_listed(kKept, tag.name)) {
      kept_ = tag.name;
      kept_depth_ = 1;
    }
    if (is_listed(kPreformatted, tag.name)) ++preformatted_;
    if (is_listed(kText, tag.name)) {
      const size_t end = closing_tag(tag.name);
      while (place_ < end) read_text(end, /*tags=*/false);
    }
  }

  void leave(const Tag& tag) {
    if (kept_depth_ > 0 && tag.name == kept_) --kept_depth_;
    if (preformatted_ > 0 && is_listed(kPreformatted, tag.name)) --preformatted_;
  }

  // Where the closing tag of an element begins whose content is no markup.
  size_t closing_tag(const std::string& name) const {
    for (size_t place = place_;; ++place) {
      place = html_.find("</", place);
      if (place == std::string_view::npos) return html_.size();
      const size_t end = place + 2 + name.size();
      const char next = at(end);
      if (lower_ascii(html_.substr(place + 2, name.size())) == name &&
          (is_space(next) || next == '/' || next == '>'))
        return place;
    }
  }

  // Text up to the next tag, or a reference that stays as it is, or `end`.
  void read_text(size_t end, bool tags) {
    const size_t begin = place_;
    std::string text;
    size_t place = begin;
    while (place < end) {
      const char byte = html_[place];
      if (byte == '<' && tags && begins_markup(place)) break;
      const auto reference = byte == '&' ? html_reference(html_.substr(place, end - place))
                                         : std::optional<HtmlReference>();
      if (reference && reference->character == 0) {
        if (place == begin) return keep(begin + reference->size);
        break;
      }
      if (reference) {
        text::append_utf8(text, reference->character);
        place += reference->size;
      } else if (byte == '\r') {
        if (at(place + 1) != '\n') text += '\n';
        ++place;
      } else {
        text += byte;
        ++place;
      }
    }
    if (kept_depth_ > 0) return keep(place);
    pieces_.push_back({.source = html_.substr(begin, place - begin),
                       .is_text = true,
                       .text = std::move(text),
                       .line_ends_count = preformatted_ > 0});
    place_ = place;
  }

  std::string_view html_;
  size_t place_ = 0;
  std::vector<MarkupPiece> pieces_;
  std::string kept_;        // name of the element whose content stays
  int64_t kept_depth_ = 0;  // elements of that name that are open
  int64_t preformatted_ = 0;
};

}  // namespace

std::vector<MarkupPiece> parse_markup(std::string_view html) {
  return MarkupParser(html).parse();
}

std::string html_of(std::string_view text) {
  constexpr std::string_view kNoBreakSpace = "\u00A0";
  std::string result;
  result.reserve(text.size());
  for (size_t place = 0; place < text.size(); ++place) {
    const char byte = text[place];
    if (byte == '&')
      result += "&amp;";
    else if (byte == '<')
      result += "&lt;";
    else if (byte == '>')
      result += "&gt;";
    else if (byte == '\r')
      result += "&#13;";
    else if (text.substr(place).starts_with(kNoBreakSpace)) {
      result += "&nbsp;";
      place += kNoBreakSpace.size() - 1;
    } else {
      result += byte;
    }
  }
  return result;
}

}  // namespace tessera::serve
