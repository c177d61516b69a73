#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::serve {

// A stretch of an HTML document: text that a reader sees, or something else that stays as it is.
struct MarkupPiece {
  std::string_view source;  // its bytes in the document
  bool is_text = false;
  std::string text = {};         // of text: with references decoded and line ends as "\n"
  bool line_ends_count = false;  // of text: within <pre> or <textarea>
};

// The pieces of a document or of a part of one, in order: their sources joined are the document.
// Reads what browsers read, so any bytes are taken: tags that are not closed, attributes with '>'
// in quotes, comments, '<' and '&' that stand for themselves.
// These are not text: tags and comments; the content of script, style and other raw elements, of
// code, kbd, samp and var, and of elements with translate="no" or the class "notranslate";
// references by names that html_reference() does not know.
// The views are into `html`.
std::vector<MarkupPiece> parse_markup(std::string_view html);

// Text as HTML: '&', '<', '>' and no-break spaces become references. Reading it gives the text.
std::string html_of(std::string_view text);

}  // namespace tessera::serve
