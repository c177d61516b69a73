#include "text_metric/tokenization.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace tessera::text_metric;
using testing::ElementsAre;
using testing::IsEmpty;

std::string tokenized(const std::string& line) {
  const std::string apart = separate_13a(line);
  return fmt::format("{}", fmt::join(split_words(apart), " "));
}

// Golden values: sacrebleu.metrics.BLEU().tokenizer(line), sacreBLEU 2.6.0.
TEST(Tokenization, SeparatesWordsAs13aDoes) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"Two women are sitting on a bench, and one reads.",
       "Two women are sitting on a bench , and one reads ."},
      {"The price rose to 1,000.50 euros – about 3.5% more than in 2019.",
       "The price rose to 1,000.50 euros – about 3.5 % more than in 2019 ."},
      {"\"We will not come back,\" she said", "\" We will not come back , \" she said"},
      {"it's the well-known 19-year-old", "it's the well-known 19 - year-old"},
      {"Tom &amp; Jerry said &quot;hello&quot; to the &lt;others&gt;.",
       "Tom & Jerry said \" hello \" to the < others > ."},
      {"(which began at 9:30) ended at 17:45/17:50...",
       "( which began at 9 : 30 ) ended at 17 : 45 / 17 : 50 . . ."},
      {"She paid $5,000 for the car; he paid 4,200.-",
       "She paid $ 5,000 for the car ; he paid 4,200 . -"},
      {"http://example.org/a_b?c=1&d=2 us@example.org",
       "http : / / example . org / a _ b ? c = 1 & d = 2 us @ example . org"},
      {"Prices: 3.14,2.72;x-1-2 -- end", "Prices : 3.14,2.72 ; x-1 - 2 -- end"},
      {"..", ". ."},
      {"a..", "a . ."},
      {"1.", "1 ."},
      {".1", ". 1"},
      {"1.5.", "1.5 ."},
      {"a,b", "a , b"},
      {"1,000", "1,000"},
      {"1,a", "1 , a"},
      {"x.,y", "x . , y"},
      {"3.,4", "3 . , 4"},
      {"a-5-b", "a-5 - b"},
      {"-", "-"},
      {"1--2", "1 - -2"},
      {"...5", ". . . 5"},
      {"&amp;lt;", "<"},
      {"<skipped>x", "x"},
      {"ä.ö", "ä . ö"},
      {"„so“,", "„so“ ,"},
      {"don't", "don't"},
      {"a\u00A0b.", "a b ."},
      {"", ""}};
  for (const auto& [line, expected] : cases) EXPECT_EQ(tokenized(line), expected) << line;
}

TEST(Tokenization, SplitsAtAllWhiteSpaceOfUnicode) {
  EXPECT_THAT(split_words(" one\ttwo\u00A0three\u2003four\u3000 five\r\n"),
              ElementsAre("one", "two", "three", "four", "five"));
  EXPECT_THAT(split_words(" \u2028 "), IsEmpty());
  EXPECT_THAT(split_words("zero\u200Bwidth"), ElementsAre("zero\u200Bwidth"));
}

// Golden values: str.lower() of Python 3.
TEST(Tokenization, LowersCapitalsOfEveryScript) {
  EXPECT_EQ(lowercase("ÄÖÜẞ Straße ABC xyz 12"), "äöüß straße abc xyz 12");
  EXPECT_EQ(lowercase("ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ ΑΣ\u0308"), "οδυσσευς σας. σ ας\u0308");
  EXPECT_EQ(lowercase("ΑΣ’Α ΑΣ: x"), "ασ’α ας: x");
  EXPECT_EQ(lowercase("İI ǅ \u212A"), "i\u0307i ǆ k");
}

TEST(Tokenization, TakesBytesThatAreNotUtf8AsTheyAre) {
  EXPECT_EQ(lowercase("A\xFF\xC3"), "a\xFF\xC3");
  EXPECT_THAT(split_words("a\xFF b\xC3"), ElementsAre("a\xFF", "b\xC3"));
  EXPECT_EQ(visible_characters("ä \xFF").size(), 2u);
}

}  // namespace
