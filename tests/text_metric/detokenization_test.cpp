#include "text_metric/detokenization.h"

#include "text_metric/bleu.h"

#include <gtest/gtest.h>

namespace tessera::text_metric {
namespace {

// Golden values: sacremoses 0.1.1, MosesDetokenizer(lang="en").
TEST(JoinMoses, PutsMarksAndPunctuationBack) {
  EXPECT_EQ(join_moses("a man &apos;s dog is n&apos;t here ."), "a man's dog is n't here.");
  EXPECT_EQ(join_moses("the students &apos; books ( all of them ) cost $ 5 ."),
            "the students' books (all of them) cost $5.");
  EXPECT_EQ(join_moses("&apos; hello &apos; she said ; 10 % of &#91; x &#93; &amp; y"),
            "'hello' she said; 10% of [x] & y");
  EXPECT_EQ(join_moses("a @-@ b @-@ c &amp;quot; &#124; d"), "a-b-c &quot; | d");
  EXPECT_EQ(join_moses("what ? ! ..."), "what?!...");
  EXPECT_EQ(join_moses("rock &apos;n &apos; roll"), "rock'n 'roll");
  EXPECT_EQ(join_moses("„ ja “ er"), "„ja“ er");
  EXPECT_EQ(join_moses("it 's 5 : 30"), "it's 5: 30");
  EXPECT_EQ(join_moses(""), "");
}

TEST(JoinMoses, CountsQuotes) {
  EXPECT_EQ(join_moses("he said , &quot; yes , it &apos;s a well @-@ known &quot; trick &quot; ! "
                       "&quot;"),
            "he said, \"yes, it's a well-known\" trick \"!\"");
}

TEST(JoinMoses, LetsBleuCompareWithTextThatWasNeverTokenised) {
  const BleuOptions options{.tokenization = Tokenization::moses_13a};
  const std::vector<std::string> tokenised{"a well @-@ known man &apos;s dog , here ."};
  const std::vector<std::string> raw{"a well-known man's dog, here."};
  EXPECT_DOUBLE_EQ(corpus_bleu(tokenised, {{raw}}, options).score, 100);
  EXPECT_NE(bleu_signature(options).find("tok:moses-13a"), std::string::npos);
}

}  // namespace
}  // namespace tessera::text_metric
