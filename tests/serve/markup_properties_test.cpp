// What must hold for any document.

#include "serve/markup.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera::serve {
namespace {

std::string any_html() {
  const auto token = rc::gen::elementOf(std::vector<std::string>{"<p>",
                                                                 "</p>",
                                                                 "<b class=\"x\">",
                                                                 "</b>",
                                                                 "<a title='>'>",
                                                                 "<br/>",
                                                                 "<script>",
                                                                 "</script>",
                                                                 "<title>",
                                                                 "</title>",
                                                                 "<pre>",
                                                                 "</pre>",
                                                                 "<code>",
                                                                 "</code>",
                                                                 "<!--",
                                                                 "-->",
                                                                 "--",
                                                                 "<",
                                                                 ">",
                                                                 "/",
                                                                 "!",
                                                                 "&",
                                                                 ";",
                                                                 "&amp;",
                                                                 "&auml",
                                                                 "&foo;",
                                                                 "&#",
                                                                 "13;",
                                                                 "x41",
                                                                 "\"",
                                                                 "'",
                                                                 "=",
                                                                 " ",
                                                                 "\n",
                                                                 "\r",
                                                                 "a",
                                                                 "Hund",
                                                                 "ä",
                                                                 "\u00A0",
                                                                 "\xFF",
                                                                 std::string(1, '\0'),
                                                                 "translate=no",
                                                                 "notranslate"});
  std::string html;
  for (const std::string& part : *rc::gen::container<std::vector<std::string>>(token)) html += part;
  return html;
}

RC_GTEST_PROP(MarkupProperties, PiecesAreTheWhole, ()) {
  const std::string html = any_html();
  std::string whole;
  for (const MarkupPiece& piece : parse_markup(html)) {
    RC_ASSERT(!piece.source.empty());
    whole += piece.source;
  }
  RC_ASSERT(whole == html);
}

// Texts that are written again are the same document.
RC_GTEST_PROP(MarkupProperties, WrittenTextReadsTheSame, ()) {
  const std::string html = any_html();
  const std::vector<MarkupPiece> before = parse_markup(html);
  std::string written;
  for (const MarkupPiece& piece : before)
    written += piece.is_text ? html_of(piece.text) : std::string(piece.source);
  const std::vector<MarkupPiece> after = parse_markup(written);
  RC_ASSERT(after.size() == before.size());
  for (size_t k = 0; k < before.size(); ++k) {
    RC_ASSERT(after[k].is_text == before[k].is_text);
    RC_ASSERT(after[k].text == before[k].text);
    RC_ASSERT(before[k].is_text || after[k].source == before[k].source);
  }
}

}  // namespace
}  // namespace tessera::serve
