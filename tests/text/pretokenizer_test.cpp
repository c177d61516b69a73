#include "text/pretokenizer.h"

#include "text/utf8.h"

#include <gtest/gtest.h>

namespace tessera::text {
namespace {

TEST(Pretokenizer, MarksWhatWasGlued) {
  EXPECT_EQ(pretokenize_line("Hello, world."), "Hello ￭, world ￭.");
  EXPECT_EQ(pretokenize_line("\"Hello\" (he said)"), "\"￭ Hello ￭\" (￭ he said ￭)");
  EXPECT_EQ(pretokenize_line("und/oder"), "und ￭/￭ oder");
  EXPECT_EQ(pretokenize_line("Was?! Wirklich..."), "Was ￭? ￭! Wirklich ￭...");
  EXPECT_EQ(pretokenize_line("a , b"), "a , b");
}

TEST(Pretokenizer, KeepsWordsWithHyphensAndNumbersTogether) {
  EXPECT_EQ(pretokenize_line("T-Shirt 3.50 10,000 B2B 2-3"), "T-Shirt 3.50 10,000 B2B 2-3");
  EXPECT_EQ(pretokenize_line("Vor- und Nachteile"), "Vor ￭- und Nachteile");
  EXPECT_EQ(pretokenize_line("Ende.Anfang 5."), "Ende ￭.￭ Anfang 5 ￭.");
}

TEST(Pretokenizer, SplitsAtApostrophes) {
  EXPECT_EQ(pretokenize_line("don't geht’s rock'n'roll"), "don ￭'t geht ￭’s rock ￭'n ￭'roll");
  EXPECT_EQ(pretokenize_line("the boys' 'quote'"), "the boys ￭' '￭ quote ￭'");
}

TEST(Pretokenizer, KeepsMarksWithTheirCharacters) {
  EXPECT_EQ(pretokenize_line("u\u0308ber ❤\uFE0F!"), "u\u0308ber ❤\uFE0F ￭!");
}

TEST(Pretokenizer, NeverEndsATokenInBpesSeparator) {
  EXPECT_EQ(pretokenize_line("foo@@ bar"), "foo ￭@ ￭@ bar");
}

TEST(Pretokenizer, GivesRealTextBack) {
  for (const char* text :
       {"", "Hello, world.", "„Größe“ – das heißt: \"5,5 €\"/Stück!!", "don't @@ a@@b @@@",
        "the mark ￭ itself, glued￭, ￭￭ and ％ffed ％ff05 ％ ％％ff05", "'tis 'n' O'Neill's '",
        "🙂🙂 👩\u200D👩\u200D👧 e\u0301 \u0301alone", "a--b ... -x- 1.2.3. ,5 1,",
        "中文，字。"})
    EXPECT_EQ(detokenize(pretokenize_line(text)), text);
}

TEST(Pretokenizer, MakesOneSpaceOfBlanks) {
  EXPECT_EQ(detokenize(pretokenize_line(" \tHello,\u00A0 world \n")), "Hello, world");
}

TEST(Pretokenizer, PutsAnythingTogether) {
  EXPECT_EQ(detokenize("￭. a ￭ b ￭￭ c￭"), ". abc") << "marks no text would have";
  EXPECT_EQ(detokenize("  a   b "), "a b");
  EXPECT_EQ(detokenize("￭"), "");
  EXPECT_EQ(detokenize("a￭, ￭￭￭b￭c d"), "a,bc d") << "marks inside of tokens";
  EXPECT_EQ(detokenize("％￭ffed"), "％ffed") << "no mark is made of what one has parted";
}

}  // namespace
}  // namespace tessera::text
