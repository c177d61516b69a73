#include "text_metric/bootstrap.h"

#include "text_metric/fixtures.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

namespace {

using namespace tessera::text_metric;
using tessera::test::fixture;

using Lines = std::vector<std::string>;

class Bootstrap : public testing::Test {
 protected:
  Bootstrap() {
    for (const size_t line : {0, 4}) mixed_[line] = other_[line];
  }

  AdditiveMetric bleu(const Lines& lines) const {
    return additive(bleu_statistics(lines, reference_));
  }

  AdditiveMetric chrf(const Lines& lines) const {
    return additive(chrf_statistics(lines, reference_));
  }

  const std::vector<Lines> reference_{fixture("reference.txt")};
  const Lines hypothesis_ = fixture("hypothesis.txt"), other_ = fixture("other_hypothesis.txt");
  Lines mixed_ = hypothesis_;  // with two lines of the other system
};

// PairedTest([("hyp", hypothesis), ("mixed", mixed)], {"bleu": BLEU(), "chrf": CHRF()},
//            [reference], test_type="bs", n_samples=20000)()
// of sacreBLEU, which draws other samples: the tolerances are several standard errors.
TEST_F(Bootstrap, AgreesWithSacreBleuButForTheDraw) {
  const BootstrapOptions options{.samples = 20000};
  const auto of_bleu = paired_bootstrap(bleu(hypothesis_), bleu(mixed_), options);
  EXPECT_NEAR(of_bleu.baseline.score, 50.530974314235266, 1e-9);
  EXPECT_NEAR(of_bleu.system.score, 47.264464452455094, 1e-9);
  EXPECT_NEAR(of_bleu.difference, 47.264464452455094 - 50.530974314235266, 1e-9);
  EXPECT_NEAR(of_bleu.p_value, 0.0970, 0.012);
  EXPECT_NEAR(of_bleu.baseline.mean, 49.785, 0.35);
  EXPECT_NEAR(of_bleu.baseline.half_width(), 17.12, 0.6);
  EXPECT_NEAR(of_bleu.system.mean, 46.392, 0.35);
  EXPECT_NEAR(of_bleu.system.half_width(), 18.00, 0.6);

  const auto of_chrf = paired_bootstrap(chrf(hypothesis_), chrf(mixed_), options);
  EXPECT_NEAR(of_chrf.system.score, 61.805785318697104, 1e-9);
  EXPECT_NEAR(of_chrf.p_value, 0.0924, 0.012);
  EXPECT_NEAR(of_chrf.baseline.mean, 66.842, 0.2);
  EXPECT_NEAR(of_chrf.system.half_width(), 10.95, 0.4);
}

TEST_F(Bootstrap, ScoresTheWholeAsTheMetricDoes) {
  const auto lines = rouge_statistics(hypothesis_, reference_);
  const auto others = rouge_statistics(other_, reference_);
  const auto result = paired_bootstrap(additive(lines, kRouge2), additive(others, kRouge2));
  EXPECT_NEAR(result.baseline.score, corpus_rouge(hypothesis_, reference_)[kRouge2].f1, 1e-9);
  EXPECT_NEAR(result.system.score, corpus_rouge(other_, reference_)[kRouge2].f1, 1e-9);
  EXPECT_LT(result.p_value, 0.01);
}

TEST_F(Bootstrap, LaysTheIntervalAroundTheScore) {
  const auto result = paired_bootstrap(bleu(hypothesis_), bleu(other_));
  for (const tessera::ScoreInterval& interval : {result.baseline, result.system}) {
    EXPECT_LT(interval.low, interval.score);
    EXPECT_GT(interval.high, interval.score);
  }
  EXPECT_LT(result.p_value, 0.01);
}

TEST_F(Bootstrap, FindsNoDifferenceOfASystemToItself) {
  const auto result = paired_bootstrap(bleu(hypothesis_), bleu(hypothesis_));
  EXPECT_EQ(result.difference, 0);
  EXPECT_EQ(result.p_value, 1);
  EXPECT_EQ(result.baseline.mean, result.system.mean);
}

TEST_F(Bootstrap, RepeatsItselfWithTheSeed) {
  const auto low = [&](uint64_t seed) {
    return paired_bootstrap(bleu(hypothesis_), bleu(mixed_), {.samples = 200, .seed = seed})
        .system.mean;
  };
  EXPECT_EQ(low(7), low(7));
  EXPECT_NE(low(7), low(8));
}

TEST_F(Bootstrap, RefusesSystemsOfDifferentLength) {
  const AdditiveMetric one = bleu(hypothesis_);
  AdditiveMetric shorter = one;
  shorter.rows.resize(shorter.rows.size() - shorter.width);
  EXPECT_THROW(paired_bootstrap(one, shorter), tessera::Error);
  EXPECT_THROW(paired_bootstrap(additive(std::vector<BleuStatistics>()),
                                additive(std::vector<BleuStatistics>())),
               tessera::Error);
  EXPECT_THROW(paired_bootstrap(one, one, {.samples = 0}), tessera::UsageError);
}

TEST_F(Bootstrap, IsPartOfTheSignature) {
  EXPECT_EQ(bootstrap_signature("nrefs:1|case:lc", {.samples = 500, .seed = 3}),
            "nrefs:1|bs:500|seed:3|case:lc");
}

}  // namespace
