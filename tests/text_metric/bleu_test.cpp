#include "text_metric/bleu.h"

#include "text_metric/fixtures.h"

#include <tessera/base/error.h>
#include <tessera/version.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace {

using namespace tessera::text_metric;
using tessera::test::fixture;
using tessera::test::kExact;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

using Lines = std::vector<std::string>;

class Bleu : public testing::Test {
 protected:
  const Lines hypothesis_ = fixture("hypothesis.txt"), other_ = fixture("other_hypothesis.txt");
  const std::vector<Lines> reference_{fixture("reference.txt")};
  const std::vector<Lines> references_{fixture("reference.txt"), fixture("second_reference.txt")};
};

// BLEU().corpus_score(hypothesis, [reference])
TEST_F(Bleu, EqualsSacreBleu) {
  const BleuScore bleu = corpus_bleu(hypothesis_, reference_);
  EXPECT_NEAR(bleu.score, 50.530974314235266, kExact);
  EXPECT_THAT(bleu.precisions,
              Pointwise(DoubleNear(kExact), {84.43396226415095, 65.28497409326425,
                                             51.42857142857143, 40.50632911392405}));
  EXPECT_NEAR(bleu.brevity_penalty, 0.8680469864237502, kExact);
  EXPECT_NEAR(bleu.ratio, 212. / 242, kExact);
  EXPECT_THAT(bleu.statistics.matches, ElementsAre(179, 126, 90, 64));
  EXPECT_THAT(bleu.statistics.totals, ElementsAre(212, 193, 175, 158));
  EXPECT_EQ(bleu.statistics.hyp_len, 212);
  EXPECT_EQ(bleu.statistics.ref_len, 242);
}

// BLEU(tokenize=..., lowercase=...).corpus_score(..., [reference])
TEST_F(Bleu, EqualsSacreBleuInEveryTokenizationAndCase) {
  const auto none = Tokenization::none, v13a = Tokenization::mteval_13a;
  const auto score = [&](const Lines& lines, Tokenization tokenization, bool lowercase) {
    return corpus_bleu(lines, reference_, {.tokenization = tokenization, .lowercase = lowercase})
        .score;
  };
  EXPECT_NEAR(score(hypothesis_, none, false), 31.730253447626968, kExact);
  EXPECT_NEAR(score(hypothesis_, v13a, true), 54.819102857771796, kExact);
  EXPECT_NEAR(score(hypothesis_, none, true), 38.09722695668921, kExact);
  EXPECT_NEAR(score(other_, v13a, false), 17.039290551527817, kExact);
  EXPECT_NEAR(score(other_, none, false), 15.323041148386768, kExact);
}

// BLEU().corpus_score(hypothesis, [reference, second_reference])
TEST_F(Bleu, EqualsSacreBleuWithTwoReferences) {
  const BleuScore bleu = corpus_bleu(hypothesis_, references_);
  EXPECT_NEAR(bleu.score, 55.970923086248526, kExact);
  EXPECT_THAT(bleu.statistics.matches, ElementsAre(184, 130, 93, 65));
  EXPECT_EQ(bleu.statistics.ref_len, 226);
}

// BLEU(max_ngram_order=n).corpus_score(hypothesis, [reference])
TEST_F(Bleu, CountsUpToEveryOrder) {
  EXPECT_THAT(corpus_bleu(hypothesis_, reference_).cumulative,
              Pointwise(DoubleNear(kExact), {73.29264649521292, 64.44785045099974,
                                             57.023629462189284, 50.530974314235266}));
}

// BLEU(smooth_method=..., smooth_value=..., tokenize="none").corpus_score(
//     ["the cat sat down", "a b"], [["the cat lay down", "b a"]])
TEST_F(Bleu, SmoothsAsSacreBleuDoes) {
  const Lines hypothesis{"the cat sat down", "a b"};
  const std::vector<Lines> reference{{"the cat lay down", "b a"}};
  const auto score = [&](Smoothing smoothing, std::optional<double> value = {}) {
    return corpus_bleu(hypothesis, reference,
                       {.tokenization = Tokenization::none,
                        .smoothing = smoothing,
                        .smoothing_value = value})
        .score;
  };
  EXPECT_NEAR(score(Smoothing::exp), 33.78000387017587, kExact);
  EXPECT_EQ(score(Smoothing::none), 0);
  EXPECT_NEAR(score(Smoothing::floor), 17.965205598154213, kExact);
  EXPECT_NEAR(score(Smoothing::add_k), 48.54917717073236, kExact);
  EXPECT_NEAR(score(Smoothing::floor, 0.5), 40.1714209472326, kExact);
  EXPECT_NEAR(score(Smoothing::add_k, 2), 61.04735835807847, kExact);
}

// sacrebleu.sentence_bleu(h, [r]) for the lines of hypothesis and reference
TEST_F(Bleu, EqualsSacreBleuForEverySentence) {
  const std::array<double, 20> expected{52.53819788848316,  28.698445497070413, 61.42150942225169,
                                        54.017258985951415, 54.182204258059556, 21.874057156123218,
                                        100.00000000000004, 36.78794411714425,  0.0,
                                        54.06149861913043,  51.341711903259224, 55.06083283927118,
                                        30.213753973567677, 16.59038701421971,  93.31509974194675,
                                        42.88819424803536,  33.89230378253246,  0.0,
                                        29.88826672860126,  66.06328636027612};
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::array<std::string_view, 1> reference{reference_[0][i]};
    EXPECT_NEAR(sentence_bleu(hypothesis_[i], reference).score, expected[i], kExact)
        << hypothesis_[i];
  }
}

TEST_F(Bleu, OfACorpusIsThatOfTheSumOfItsLines) {
  BleuStatistics sum;
  for (const auto& line : bleu_statistics(hypothesis_, references_)) sum += line;
  EXPECT_EQ(sum, corpus_bleu(hypothesis_, references_).statistics);
}

TEST_F(Bleu, OfReferencesEquallyCloseInLengthTakesTheShorter) {
  const std::array<std::string_view, 2> references{"a b c d", "a b"};
  EXPECT_EQ(bleu_statistics("a b c", references).ref_len, 2);
}

TEST_F(Bleu, OfNothingIsZero) {
  const BleuScore bleu = corpus_bleu(Lines{""}, std::vector<Lines>{{"a b"}});
  EXPECT_EQ(bleu.score, 0);
  EXPECT_EQ(bleu.brevity_penalty, 0);
  EXPECT_EQ(bleu_of({}).score, 0);
}

TEST_F(Bleu, RefusesReferencesOfAnotherLength) {
  EXPECT_THROW(corpus_bleu(Lines{"a"}, std::vector<Lines>{{"a", "b"}}), tessera::Error);
  EXPECT_THROW(corpus_bleu(Lines{"a"}, {}), tessera::Error);
}

// BLEU(...).get_signature() and str(BLEU().corpus_score(...)), but for the version
TEST_F(Bleu, IsNeverWithoutASignature) {
  const std::string version = "tessera-" + tessera::version();
  EXPECT_EQ(bleu_signature({}), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" + version);
  EXPECT_EQ(bleu_signature({.tokenization = Tokenization::none,
                            .lowercase = true,
                            .smoothing = Smoothing::floor,
                            .effective_order = true},
                           2),
            "nrefs:2|case:lc|eff:yes|tok:none|smooth:floor[0.10]|version:" + version);
  EXPECT_EQ(bleu_line(corpus_bleu(hypothesis_, reference_), "nrefs:1"),
            "BLEU|nrefs:1 = 50.53 84.4/65.3/51.4/40.5 (BP = 0.868 ratio = 0.876 hyp_len = 212 "
            "ref_len = 242)");
}

}  // namespace
