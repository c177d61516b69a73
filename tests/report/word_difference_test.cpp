#include "report/word_difference.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::report {
namespace {

TEST(WordDifference, MarksWordsTheOtherTextDoesNotHave) {
  EXPECT_EQ(with_marks("a dog runs fast", "a dog runs fast"), "a dog runs fast");
  EXPECT_EQ(with_marks("a big black dog runs", "a dog is running"),
            "a <mark>big black</mark> dog <mark>runs</mark>");
  EXPECT_EQ(with_marks("dog a", "a dog"), "<mark>dog</mark> a") << "the order counts";
  EXPECT_EQ(with_marks("", "a dog"), "");
  EXPECT_EQ(with_marks("a dog", ""), "<mark>a dog</mark>");
}

TEST(WordDifference, ComparesTextsWithoutBlanksByLetters) {
  EXPECT_EQ(with_marks("1985-07-16", "1958-07-16"), "19<mark>85</mark>-07-16");
  EXPECT_EQ(with_marks("1985-7", "1985-07"), "1985-7") << "nothing that the other lacks";
  EXPECT_EQ(with_marks("grün", "grau"), "gr<mark>ün</mark>") << "letters, not bytes";
}

TEST(WordDifference, EscapesWhatItIsGiven) {
  EXPECT_EQ(with_marks("<b> & c", "& c"), "<mark>&lt;b&gt;</mark> &amp; c");
}

TEST(WordDifference, LeavesTextsOfVeryManyWordsAsTheyAre) {
  std::string many, others;
  for (int k = 0; k < 5000; ++k) many += "a ", others += "b ";
  EXPECT_EQ(with_marks(many, others), many);
}

}  // namespace
}  // namespace tessera::report
