#include "text/encoding_guess.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::text {
namespace {

// Two bytes per character.
std::string wide(const std::string& latin, bool low_first) {
  std::string bytes;
  for (const char c : latin) {
    if (low_first) bytes += c;
    bytes += '\0';
    if (!low_first) bytes += c;
  }
  return bytes;
}

TEST(EncodingGuess, KnowsByteOrderMarks) {
  EXPECT_EQ(guess_encoding("\xFF\xFE" + wide("hello", true)), "UTF-16");
  EXPECT_EQ(guess_encoding("\xFE\xFF" + wide("hello", false)), "UTF-16");
  EXPECT_EQ(guess_encoding(std::string("\xFF\xFE\0\0h\0\0\0", 8)), "UTF-32");
}

TEST(EncodingGuess, KnowsUtf16WithoutAMarkByItsNuls) {
  EXPECT_EQ(guess_encoding(wide("a small dog\nsees a cat\n", true)), "UTF-16LE");
  EXPECT_EQ(guess_encoding(wide("a small dog\nsees a cat\n", false)), "UTF-16BE");
  EXPECT_EQ(guess_encoding(std::string("a sm\0ll dog sees a cat", 22)), "") << "one damaged byte";
}

TEST(EncodingGuess, KnowsLatin1ByItsLonelyLetters) {
  EXPECT_EQ(guess_encoding("ein gr\xFCner H\xF6rer h\xF6rt"), "ISO-8859-1");
  EXPECT_EQ(guess_encoding("caf\xE9"), "ISO-8859-1");
  EXPECT_EQ(guess_encoding("gr\xFCn \x96 \x84sch\xF6n\x93, m\xE4nnlich"), "WINDOWS-1252");
}

TEST(EncodingGuess, TakesDamagedUtf8AndOtherAlphabetsForNeither) {
  EXPECT_EQ(guess_encoding("not \xFF fine"), "");
  EXPECT_EQ(guess_encoding("gr\xC3\xBCn, sch\xC3\xB6n, m\xC3\xA4nnlich, ka\xE4putt"), "");
  EXPECT_EQ(guess_encoding("\xF0\xD2\xC9\xD7\xC5\xD4 \xCD\xC9\xD2"), "") << "KOI8-R";
  EXPECT_EQ(guess_encoding(""), "");
}

}  // namespace
}  // namespace tessera::text
