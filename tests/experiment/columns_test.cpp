#include "experiment/columns.h"

#include <gtest/gtest.h>

namespace tessera::experiment {
namespace {

const Json kReport = Json::parse(R"({"split":"test","exact_match":12.5,"nfe":20,
  "metrics":[{"name":"BLEU","score":31.5,"signature":"s","ratio":0.98,"oracle":{"score":40.0}},
             {"name":"ROUGE-L","score":20.25,"signature":"t"}],
  "one_step":{"accuracy":0.75,"label":"x"}})");

TEST(Columns, ShowMetricsByTheirShortNames) {
  EXPECT_EQ(value_of(kReport, "bleu"), 31.5);
  EXPECT_EQ(value_of(kReport, "rougeL"), 20.25);
  EXPECT_EQ(value_of(kReport, "exact"), 12.5);
  EXPECT_EQ(value_of(kReport, "chrf"), std::nullopt);
  ASSERT_NE(metric_of(kReport, "bleu"), nullptr);
  EXPECT_EQ((*metric_of(kReport, "bleu"))["signature"], "s");
  EXPECT_EQ(metric_of(kReport, "exact"), nullptr);
}

TEST(Columns, ShowWhateverAnEvaluationHas) {
  EXPECT_EQ(value_of(kReport, "one_step.accuracy"), 0.75);
  EXPECT_EQ(value_of(kReport, "nfe"), 20);
  EXPECT_EQ(value_of(kReport, "bleu.ratio"), 0.98);
  EXPECT_EQ(value_of(kReport, "bleu.oracle.score"), 40.0);
  EXPECT_EQ(value_of(kReport, "metrics.1.score"), 20.25);
  for (const char* none : {"one_step", "one_step.label", "one_step.none", "metrics.2.score", "no",
                           "nfe.x", "bleu.none", "split"})
    EXPECT_EQ(value_of(kReport, none), std::nullopt) << none;
}

TEST(Columns, SayWhatAnEvaluationMustBeAskedFor) {
  EXPECT_EQ(metric_asked("rouge2"), "rouge");
  EXPECT_EQ(metric_asked("bleu.ratio"), "bleu");
  EXPECT_EQ(metric_asked("exact"), "");
  EXPECT_EQ(metric_asked("one_step.accuracy"), "");
}

}  // namespace
}  // namespace tessera::experiment
