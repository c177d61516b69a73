#include "text/utf8.h"

#include <gtest/gtest.h>

namespace tessera::text {
namespace {

constexpr size_t kValid = std::string_view::npos;

TEST(Utf8, AcceptsWhatIsWellFormed) {
  for (const char* text :
       {"", "plain text, longer than eight bytes", "äöü", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF4\x8F\xBF\xBF", "🙂 at the front", "at the end 🙂"})
    EXPECT_EQ(find_invalid_utf8(text), kValid) << text;
}

TEST(Utf8, FindsTheFirstByteThatIsNot) {
  EXPECT_EQ(find_invalid_utf8("abc\x80"), 3u);
  EXPECT_EQ(find_invalid_utf8("12345678901\xFF"), 11u);
  EXPECT_EQ(find_invalid_utf8("ä\xC3"), 2u) << "cut at the end";
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0u) << "overlong, two bytes";
  EXPECT_EQ(find_invalid_utf8("\xC1\xBF"), 0u) << "overlong, two bytes";
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0u) << "overlong, three bytes";
  EXPECT_EQ(find_invalid_utf8("\xF0\x8F\xBF\xBF"), 0u) << "overlong, four bytes";
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0u) << "surrogate";
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u) << "past U+10FFFF";
  EXPECT_EQ(find_invalid_utf8("\xF5\x80\x80\x80"), 0u) << "past U+10FFFF";
}

// Expected values: Python's bytes.decode("utf-8", "replace").
TEST(Utf8, ReplacesEveryIllFormedSequenceByOneCharacter) {
  EXPECT_EQ(replace_invalid_utf8("a\xFF"
                                 "b"),
            "a\uFFFDb");
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x99"), "\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82z\xC3\xA4"), "\uFFFDzä");
}

TEST(Utf8, DecodesAndEncodes) {
  const std::u32string points = U"aß€🙂\U0010FFFF";
  EXPECT_EQ(decode_utf8("aß€🙂\U0010FFFF"), points);
  EXPECT_EQ(encode_utf8(points), "aß€🙂\U0010FFFF");
  EXPECT_EQ(code_point_size("ß", 0), 2u);
  EXPECT_EQ(code_point_size("\xF0\x9F", 0), 2u);
}

TEST(Utf8, TellsClassesApart) {
  const auto expect = [](std::u32string_view characters, CharacterClass expected) {
    for (const char32_t c : characters) EXPECT_EQ(character_class(c), expected) << uint32_t(c);
  };
  expect(U"aÄß中ªʰ", CharacterClass::letter);
  expect(U"0٣Ⅷ½²", CharacterClass::digit);
  expect(U"\u0301\u200D\uFE0F\u00AD", CharacterClass::extend);
  expect(U" \t\r\n\v\f\u0085\u00A0\u2003\u2028\u2029\u3000", CharacterClass::blank);
  expect(U".,-€+_🙂\x01￭", CharacterClass::other);
}

TEST(Utf8, NormalisesBlanks) {
  EXPECT_EQ(normalise_blanks(" \ta \u00A0 b\u2028c\n"), "a b c");
  EXPECT_EQ(normalise_blanks(" \t "), "");
}

}  // namespace
}  // namespace tessera::text
