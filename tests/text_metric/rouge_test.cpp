#include "text_metric/rouge.h"

#include "text_metric/fixtures.h"

#include <tessera/base/error.h>
#include <tessera/version.h>

#include <gtest/gtest.h>

namespace {

using namespace tessera::text_metric;
using tessera::test::fixture;
using tessera::test::kExact;

using Lines = std::vector<std::string>;

void expect_near(const RougeMeasure& measure, double precision, double recall, double f1) {
  EXPECT_NEAR(measure.precision, precision, kExact);
  EXPECT_NEAR(measure.recall, recall, kExact);
  EXPECT_NEAR(measure.f1, f1, kExact);
}

RougeScore one(std::string_view hypothesis, std::string_view reference) {
  return sentence_rouge(hypothesis, std::array{reference});
}

// 100 * mean over lines of RougeScorer(["rouge1", "rouge2", "rougeL"]).score(r, h)
TEST(Rouge, EqualsRougeScore) {
  const RougeScore rouge =
      corpus_rouge(fixture("hypothesis.txt"), std::vector<Lines>{fixture("reference.txt")});
  expect_near(rouge[kRouge1], 82.66890054390053, 73.96532634032633, 77.24345642217752);
  expect_near(rouge[kRouge2], 60.592837717837725, 55.47619047619047, 57.379800460621425);
  expect_near(rouge[kRougeL], 81.24528943278942, 72.5208818958819, 75.80976466590513);
}

// the same with score_multi([r, r2], h) of other_hypothesis
TEST(Rouge, TakesTheBestOfSeveralReferences) {
  const RougeScore rouge =
      corpus_rouge(fixture("other_hypothesis.txt"),
                   std::vector<Lines>{fixture("reference.txt"), fixture("second_reference.txt")});
  expect_near(rouge[kRouge1], 67.50198412698413, 40.0715811965812, 47.63138096927976);
  expect_near(rouge[kRouge2], 41.52867965367965, 25.271464646464644, 29.103555328400535);
  expect_near(rouge[kRougeL], 65.00198412698413, 39.5715811965812, 46.79804763594642);
}

// 100 * RougeScorer(...).score(reference, hypothesis)
TEST(Rouge, EqualsRougeScoreForASentence) {
  const RougeScore cats = one("the mat sat on the cat cat", "the cat sat on the mat");
  expect_near(cats[kRouge1], 85.71428571428571, 100.0, 92.3076923076923);
  expect_near(cats[kRouge2], 66.66666666666666, 80.0, 72.72727272727272);
  expect_near(cats[kRougeL], 57.14285714285714, 66.66666666666666, 61.53846153846153);
  const RougeScore moved = one("e a b x c d", "a b c d e");
  expect_near(moved[kRougeL], 66.66666666666666, 80.0, 72.72727272727272);
}

TEST(Rouge, KnowsOnlyLettersAndDigitsOfAscii) {
  const RougeScore umlauts = one("grosse Größe 10", "Größe 10,5");
  expect_near(umlauts[kRouge1], 75, 75, 75);
  expect_near(umlauts[kRouge2], 66.66666666666666, 66.66666666666666, 66.66666666666666);
}

TEST(Rouge, OfNothingIsZero) {
  for (const auto& [hypothesis, reference] :
       std::vector<std::pair<const char*, const char*>>{{"", "x"}, {"x", ""}, {"", ""}, {"!", "!"}})
    for (const RougeMeasure& measure : one(hypothesis, reference)) expect_near(measure, 0, 0, 0);
  for (const RougeMeasure& measure : rouge_of({})) expect_near(measure, 0, 0, 0);
}

TEST(Rouge, RefusesReferencesOfAnotherLength) {
  EXPECT_THROW(corpus_rouge(Lines{"a"}, std::vector<Lines>{{"a", "b"}}), tessera::Error);
  EXPECT_THROW(corpus_rouge(Lines{"a"}, {}), tessera::Error);
}

TEST(Rouge, IsNeverWithoutASignature) {
  EXPECT_EQ(rouge_signature(2),
            "nrefs:2|case:lc|tok:a-z0-9|stem:no|mean:lines|version:tessera-" + tessera::version());
  EXPECT_EQ(rouge_line(kRougeL, {81.245, 72.521, 75.81}, "nrefs:1"),
            "ROUGE-L|nrefs:1 = 75.81 (P = 81.25 R = 72.52)");
}

}  // namespace
