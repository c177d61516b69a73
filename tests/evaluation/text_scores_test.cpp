#include <tessera/evaluation/text_scores.h>

#include "support/complaint.h"
#include "text_metric/chrf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Lines = std::vector<std::string>;

const Lines kTexts{"a b c d e", "x y z"};
const std::vector<Lines> kReferenceDocuments{{"a b c d f", "x y z"}};

TEST(TextScores, HaveTheFiguresTheyAreMadeOf) {
  const auto scores = score_texts(kTexts, kReferenceDocuments, {.tokenization = "none"});
  ASSERT_EQ(scores.size(), 1u);
  const TextScore& bleu = scores[0];
  EXPECT_EQ(bleu.name, "BLEU");
  EXPECT_THAT(bleu.line, HasSubstr("BLEU|" + bleu.signature + " = "));
  const auto& parts = std::get<BleuParts>(bleu.parts);
  EXPECT_THAT(parts.matches, ElementsAre(7, 5, 3, 1));
  EXPECT_THAT(parts.totals, ElementsAre(8, 6, 4, 2));
  EXPECT_EQ(parts.hyp_len, 8);
  EXPECT_EQ(parts.brevity_penalty, 1);
  EXPECT_NEAR(bleu.score, 100 * std::pow(7. / 8 * 5 / 6 * 3 / 4 * 1 / 2, 0.25), 1e-9);
  EXPECT_EQ(parts.cumulative[3], bleu.score);
  // A line's own score uses no n-grams longer than the line.
  ASSERT_EQ(bleu.sentences.size(), 2u);
  EXPECT_NEAR(bleu.sentences[0], 100 * std::pow(4. / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25), 1e-9);
  EXPECT_NEAR(bleu.sentences[1], 100, 1e-9);
  EXPECT_THAT(bleu.sentence_signature, HasSubstr("eff:yes"));
  EXPECT_FALSE(bleu.comparison);
}

TEST(TextScores, AreThoseOfTheMetricsInTheirOrder) {
  const auto scores =
      score_texts(kTexts, kReferenceDocuments, {.metrics = {"rouge", "chrf", "chrf++"}});
  ASSERT_EQ(scores.size(), 5u);
  EXPECT_EQ(scores[0].name, "ROUGE-1");
  EXPECT_NEAR(scores[0].score, (80 + 100) / 2., 1e-9);
  EXPECT_NEAR(scores[1].score, (75 + 100) / 2., 1e-9);
  EXPECT_EQ(std::get<RougeParts>(scores[0].parts).f1, scores[0].score);
  EXPECT_EQ(scores[2].name, "ROUGE-L");
  EXPECT_EQ(scores[3].name, "chrF2");
  EXPECT_EQ(scores[3].score, text_metric::corpus_chrf(kTexts, kReferenceDocuments));
  EXPECT_EQ(std::get<ChrfParts>(scores[4].parts).word_order, 2);
}

TEST(TextScores, CompareTwoSystemsOnTheSameLines) {
  TextScoreOptions options{
      .tokenization = "none", .compare_with = kReferenceDocuments[0], .samples = 50};
  const auto scores = score_texts(kTexts, kReferenceDocuments, options);
  ASSERT_TRUE(scores[0].comparison);
  const auto& [signature, result] = *scores[0].comparison;
  EXPECT_THAT(signature, HasSubstr("bs:50|seed:1"));
  EXPECT_NEAR(result.baseline.score, 100, 1e-9);
  EXPECT_EQ(result.system.score, scores[0].score);
  EXPECT_NEAR(result.difference, scores[0].score - 100, 1e-9);
  options.compare_with = kTexts;
  EXPECT_EQ(score_texts(kTexts, kReferenceDocuments, options)[0].comparison->result.difference, 0);
}

TEST(TextScores, LowercaseAndTokenizationMatter) {
  const Lines loud{"A b, c d!"};
  const std::vector<Lines> soft{{"a b , c d !"}};
  EXPECT_LT(score_texts(loud, soft, {.tokenization = "none"})[0].score, 50);
  EXPECT_NEAR(score_texts(loud, soft, {.lowercase = true})[0].score, 100, 1e-9) << "13a";
}

TEST(TextScores, SayWhatIsWrong) {
  EXPECT_THROW(score_texts(kTexts, kReferenceDocuments, {.metrics = {"luck"}}), UsageError);
  EXPECT_THROW(score_texts(kTexts, kReferenceDocuments, {.tokenization = "14a"}), UsageError);
  EXPECT_THROW(score_texts(kTexts, kReferenceDocuments, {.smoothing = "rough"}), UsageError);
  EXPECT_THAT(test::complaint([] { score_texts(kTexts, std::vector<Lines>{{"a"}}); }),
              HasSubstr("2 texts and 1 references"));
  EXPECT_THROW(score_texts(kTexts, {}), Error);
  EXPECT_THROW(score_texts(kTexts, kReferenceDocuments, {.compare_with = {"a"}}), Error);
}

}  // namespace
}  // namespace tessera
