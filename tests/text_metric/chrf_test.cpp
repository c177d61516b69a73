#include "text_metric/chrf.h"

#include "text_metric/fixtures.h"

#include <tessera/base/error.h>
#include <tessera/version.h>

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace tessera::text_metric;
using tessera::test::fixture;
using tessera::test::kExact;

using Lines = std::vector<std::string>;

class Chrf : public testing::Test {
 protected:
  const Lines hypothesis_ = fixture("hypothesis.txt"), other_ = fixture("other_hypothesis.txt");
  const std::vector<Lines> reference_{fixture("reference.txt")};
  const std::vector<Lines> references_{fixture("reference.txt"), fixture("second_reference.txt")};
};

// CHRF(word_order=..., lowercase=...).corpus_score(hypothesis, [reference])
TEST_F(Chrf, EqualsSacreBleu) {
  EXPECT_NEAR(corpus_chrf(hypothesis_, reference_), 66.92760821289214, kExact);
  EXPECT_NEAR(corpus_chrf(hypothesis_, reference_, {.lowercase = true}), 70.56543081104405, kExact);
  EXPECT_NEAR(corpus_chrf(other_, reference_), 38.051681603895496, kExact);
}

TEST_F(Chrf, WithWordsEqualsSacreBleu) {
  EXPECT_NEAR(corpus_chrf(hypothesis_, reference_, {.word_order = 2}), 64.88525932833512, kExact);
  EXPECT_NEAR(corpus_chrf(hypothesis_, reference_, {.word_order = 2, .lowercase = true}),
              68.76118841820148, kExact);
  EXPECT_NEAR(corpus_chrf(other_, reference_, {.word_order = 2}), 37.60736921188197, kExact);
}

// CHRF(...).corpus_score(hypothesis, [reference, second_reference])
TEST_F(Chrf, TakesTheBestOfSeveralReferences) {
  EXPECT_NEAR(corpus_chrf(hypothesis_, references_), 67.33010022058104, kExact);
  EXPECT_NEAR(corpus_chrf(hypothesis_, references_, {.word_order = 2}), 65.23914055685938, kExact);
}

// CHRF(word_order=2).sentence_score(h, [r])
TEST_F(Chrf, EqualsSacreBleuForEverySentence) {
  const std::array<double, 20> expected{78.9844054650198,  59.39740206205979, 84.52210572796783,
                                        69.7517689626652,  80.5244168821552,  59.41215257556043,
                                        35.75346477949525, 65.61085972850678, 0.0,
                                        69.31828341652823, 52.03981868278375, 78.15780176773929,
                                        64.57929813255177, 63.59341818581002, 87.54796869562209,
                                        32.37686895338611, 69.11912033859832, 19.859114698510982,
                                        67.94206464420014, 79.65264049790619};
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::array<std::string_view, 1> reference{reference_[0][i]};
    EXPECT_NEAR(sentence_chrf(hypothesis_[i], reference, {.word_order = 2}), expected[i], kExact)
        << hypothesis_[i];
  }
}

TEST_F(Chrf, OfNothingIsZero) {
  EXPECT_EQ(chrf_of({}), 0);
  EXPECT_EQ(corpus_chrf(Lines{""}, std::vector<Lines>{{"a b"}}), 0);
  EXPECT_EQ(corpus_chrf(Lines{"a"}, std::vector<Lines>{{""}}), 0);
}

TEST_F(Chrf, RefusesReferencesOfAnotherLength) {
  EXPECT_THROW(corpus_chrf(Lines{"a"}, std::vector<Lines>{{"a", "b"}}), tessera::Error);
  EXPECT_THROW(corpus_chrf(Lines{"a"}, {}), tessera::Error);
}

// CHRF(...).get_signature() and str(CHRF().corpus_score(...)), but for the version
TEST_F(Chrf, IsNeverWithoutASignature) {
  const std::string version = "tessera-" + tessera::version();
  EXPECT_EQ(chrf_signature({}), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:" + version);
  EXPECT_EQ(chrf_signature({.word_order = 2, .lowercase = true}, 2),
            "nrefs:2|case:lc|eff:yes|nc:6|nw:2|space:no|version:" + version);
  EXPECT_EQ(chrf_line(66.9276, {}, "nrefs:1"), "chrF2|nrefs:1 = 66.93");
  EXPECT_EQ(chrf_name({.word_order = 2}), "chrF2++");
}

}  // namespace
