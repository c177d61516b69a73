#include "serve/markup.h"

#include "serve/html_entities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The texts of a document; the pieces must be the whole of it.
std::vector<std::string> texts(std::string_view html) {
  std::string whole;
  std::vector<std::string> found;
  for (const MarkupPiece& piece : parse_markup(html)) {
    whole += piece.source;
    if (piece.is_text) found.push_back(piece.text);
  }
  EXPECT_EQ(whole, html);
  return found;
}

TEST(Markup, DividesTextAndTags) {
  EXPECT_THAT(texts("<p class=\"a\">Ein <b>kleiner</b> Hund.</p><br/>Zwei"),
              ElementsAre("Ein ", "kleiner", " Hund.", "Zwei"));
  EXPECT_THAT(texts("no tags"), ElementsAre("no tags"));
  EXPECT_THAT(texts(""), IsEmpty());
  EXPECT_THAT(texts("<!DOCTYPE html><html><head><meta charset=utf-8></head>"), IsEmpty());
}

TEST(Markup, AttributesMayHoldAngleBracketsInQuotes) {
  EXPECT_THAT(texts("<a title=\"a > b\" href='>'>x</a>"), ElementsAre("x"));
  EXPECT_THAT(texts("<a title=a\"b>x</a>"), ElementsAre("x")) << "a quote within a value";
  EXPECT_THAT(texts("<a \"b>x</a>"), ElementsAre("x")) << "a quote in a name";
  EXPECT_THAT(texts("<a title = \n 'x>y' b>z"), ElementsAre("z"));
  EXPECT_THAT(texts("<a/title=\">\">z"), ElementsAre("z"));
}

TEST(Markup, CommentsStay) {
  EXPECT_THAT(texts("a<!-- <p> -- > -->b<!-->c<!--->d<!-- x --!>e<!-- no end"),
              ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(texts("a<?php echo 1 ?>b</>c</ 1>d<![CDATA[e]]>f"),
              ElementsAre("a", "b", "c", "d", "f"));
}

TEST(Markup, ScriptsAndStylesStay) {
  EXPECT_THAT(texts("<script>if (a < b) x(\"</p>\")</script>a<STYLE>b{}</Style >c"),
              ElementsAre("a", "c"));
  EXPECT_THAT(texts("<script>no end </scripts>"), IsEmpty());
  EXPECT_THAT(texts("<title>a <b> &amp; c</title><textarea><p></textarea>d"),
              ElementsAre("a <b> & c", "<p>", "d"));
}

TEST(Markup, WhatIsNotToBeTranslatedStays) {
  EXPECT_THAT(texts("<code>a<b>c</b></code>d"), ElementsAre("d"));
  EXPECT_THAT(texts("<p translate=no>a<p>b</p>c</p>d"), ElementsAre("d")) << "as deep as it began";
  EXPECT_THAT(texts("<span class='x notranslate'>a</span>b<i class=notranslated>c</i>"),
              ElementsAre("b", "c"));
  EXPECT_THAT(texts("<br translate=no>a<p translate=yes>b"), ElementsAre("a", "b"));
}

TEST(Markup, TagsThatAreNotClosed) {
  EXPECT_THAT(texts("a <b"), ElementsAre("a "));
  EXPECT_THAT(texts("a <b title=\"x > y"), ElementsAre("a "));
  EXPECT_THAT(texts("a < b <3 a<"), ElementsAre("a < b <3 a<"));
  EXPECT_THAT(texts("a </"), ElementsAre("a </"));
  EXPECT_THAT(texts("</b></i>a"), ElementsAre("a"));
}

TEST(Markup, ReferencesAreDecoded) {
  EXPECT_THAT(texts("&auml;&#228;&#xE4;&#XE4 &lt;b&gt; &amp;auml; &apos;&quot;"),
              ElementsAre("ääää <b> &auml; '\""));
  EXPECT_THAT(texts("&copy 2026 &copyright AT&T &; & &#; &#x; &#xyz"),
              ElementsAre("© 2026 ©right AT&T &; & &#; &#x; &#xyz"));
  EXPECT_THAT(texts("&#0;&#xD800;&#x110000;&#99999999999999;"),
              ElementsAre("\uFFFD\uFFFD\uFFFD\uFFFD"));
  EXPECT_THAT(texts("&#128;&#150;"), ElementsAre("€–")) << "Windows-1252";
  EXPECT_THAT(texts("&lang;&Zeta;&hearts;"), ElementsAre("\u27E8Ζ♥"));
}

TEST(Markup, ReferencesThatAreNotKnownStay) {
  EXPECT_THAT(texts("a&NotEqualTilde;b&notit;c"), ElementsAre("a", "b", "c"));
  EXPECT_EQ(html_reference("&notit;")->character, 0u);
  EXPECT_FALSE(html_reference("&T"));
  EXPECT_FALSE(html_reference("&"));
}

TEST(Markup, LineEndsCountInPreformattedTextOnly) {
  for (const auto& [html, count] :
       {std::pair{"<p>a\nb", false}, {"<pre>a\nb", true}, {"<pre></pre>a\nb", false}}) {
    EXPECT_EQ(parse_markup(html).back().line_ends_count, count) << html;
  }
  EXPECT_THAT(texts("<pre>a\r\nb\rc&#13;d"), ElementsAre("a\nb\nc\rd"));
}

TEST(Markup, WritesTextThatReadsTheSame) {
  EXPECT_EQ(html_of("a < b & \"c\"\u00A0> d\r\n"), "a &lt; b &amp; \"c\"&nbsp;&gt; d&#13;\n");
  EXPECT_THAT(texts(html_of("&lt; <p> &amp;\r\u00A0\u00E4")),
              ElementsAre("&lt; <p> &amp;\r\u00A0ä"));
}

// Time grows with the length alone.
TEST(Markup, LongInputsOfOneKindTakeNoLonger) {
  for (const char* part : {"<", "<a ", "</", "&", "&a", "<!--", "<!-- -->", "<!---", "<pre>",
                           "<a b=\"", "<script>", "<script></script>", "<title>", "&#", "--!>",
                           "<code>", "</script", "<a b='' ", "<p translate=no>"}) {
    std::string html;
    while (html.size() < 500'000) html += part;
    texts(html);
  }
}

}  // namespace
}  // namespace tessera::serve
