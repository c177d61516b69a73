#include "experiment/front.h"

#include "experiment/made_experiment.h"
#include "support/complaint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tessera::experiment {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFrontTable = R"(
columns = ["bleu"]
[front]
cost = { key = "passes", title = "decoder passes", decimals = 0 }
score = "bleu"
budgets = [1, 6, 20]
[model.a]
recipe = "r.toml"
[model.b]
recipe = "r.toml"
overrides = ["process.r=0.5"]
[[cell]]
row = "A & co"
model = "a"
sweep = { "--candidates" = ["1x1", "3x1", "5x2"], "--steps" = [2, 4] }
at_most = 20
[[cell]]
row = "B"
model = "b"
sweep = { "--steps" = [2, 4] }
)";

class FrontOfATable : public test::MadeExperiment {
 protected:
  // BLEU and passes by row and column.
  using Numbers = std::map<std::string, std::pair<double, double>>;

  std::vector<JobState> states(const Numbers& numbers) {
    std::vector<JobState> result;
    tessera::test::said([&] { result = run(); });
    for (size_t k = 0; k < plan_.cells.size(); ++k) {
      const auto found = numbers.find(table_.cells[k].row + "; " + table_.cells[k].column);
      if (found == numbers.end()) {
        result[plan_.cells[k].front()] = {};
        continue;
      }
      Json& evaluation = result[plan_.cells[k].front()].result["evaluation"];
      evaluation["metrics"][0]["score"] = found->second.first;
      evaluation["passes"] = found->second.second;
    }
    return result;
  }

  const Numbers kNumbers{{"A & co, candidates = 1x1; steps = 2", {20, 2}},
                         {"A & co, candidates = 1x1; steps = 4", {19, 4}},
                         {"A & co, candidates = 3x1; steps = 2", {25, 6}},
                         {"A & co, candidates = 3x1; steps = 4", {25, 12}},
                         {"A & co, candidates = 5x2; steps = 2", {30, 20}},
                         {"B; steps = 2", {22, 10}}};
};

TEST_F(FrontOfATable, HasWhatNothingCheaperBeats) {
  read(kFrontTable);
  const auto all = states(kNumbers);
  const Findings findings = found(all);
  const auto series = front_series(findings);
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0].name, "A & co");
  std::vector<std::pair<double, bool>> marked;
  for (const FrontPoint& point : series[0].points) marked.emplace_back(point.cost, point.on_front);
  EXPECT_THAT(marked, ElementsAre(std::pair(2.0, true), std::pair(4.0, false), std::pair(6.0, true),
                                  std::pair(12.0, false), std::pair(20.0, true)));
  ASSERT_EQ(series[1].points.size(), 1u) << "what was not run is no point";
  EXPECT_EQ(best_within(series[0], 19)->score, 25);
  EXPECT_EQ(best_within(series[0], 1), nullptr);
}

TEST_F(FrontOfATable, MayBeOfALowestScore) {
  read(std::string(kFrontTable)
           .replace(std::string(kFrontTable).find("budgets"), 0, "best = 'lowest'\n"));
  const auto all = states(kNumbers);
  const Findings findings = found(all);
  const auto series = front_series(findings);
  EXPECT_EQ(best_within(series[0], 100)->score, 19);
  EXPECT_EQ(best_within(series[0], 3)->score, 20);
}

TEST_F(FrontOfATable, StandsInMarkdownAndJson) {
  read(kFrontTable);
  const auto all = states(kNumbers);
  const Findings findings = found(all);
  EXPECT_THAT(
      markdown_table(findings),
      AllOf(HasSubstr("## Best for their cost\n| decoder passes | A & co | B |\n"),
            HasSubstr("| at most 1 | – | – |\n"),
            HasSubstr("| at most 6 | 25.00 (candidates = 3x1, steps = 2: 6) | – |\n"),
            HasSubstr("| at most 20 | 30.00 (candidates = 5x2, steps = 2: 20) | 22.00 (steps = 2: "
                      "10) |\n"),
            HasSubstr("| A & co | candidates = 3x1, steps = 2 | 6 | 25.00 |\n"),
            Not(HasSubstr("| A & co | candidates = 3x1, steps = 4 |")),
            HasSubstr("|  | seed | BLEU | decoder passes | NFE |")));
  const Json front = json_table(findings)["front"];
  EXPECT_EQ(front["series"][0]["points"].size(), 5u);
  EXPECT_EQ(front["series"][0]["points"][2]["settings"],
            Json({{"candidates", "3x1"}, {"steps", "2"}}));
  EXPECT_EQ(front["budgets"][1]["best"]["A & co"]["score"], 25);
  EXPECT_FALSE(front["budgets"][1]["best"].contains("B"));
}

TEST_F(FrontOfATable, IsDrawnInThePage) {
  read(kFrontTable);
  const auto all = states(kNumbers);
  EXPECT_THAT(html_table(found(all)),
              AllOf(HasSubstr("BLEU over decoder passes"), HasSubstr("A &amp; co</span>"),
                    HasSubstr(">3x1, 2</text>"), Not(HasSubstr(">3x1, 4</text>")),
                    HasSubstr("Labels: candidates, steps.")));
  const std::vector<JobState> none(plan_.jobs.size());
  EXPECT_THAT(html_table(found(none)), Not(HasSubstr("Best for their cost")));
}

}  // namespace
}  // namespace tessera::experiment
