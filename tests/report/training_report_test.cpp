#include "report/training_page.h"

#include "files/files.h"
#include "report/run_labels.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace tessera::report {
namespace {

using test::complaint;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Numbers = std::vector<std::pair<double, double>>;

constexpr const char* kMetrics =
    R"({"step":100,"loss":4.0,"updates_per_second":10.0,"learning_rate":0.0001,"gradient_norm":3}
{"step":200,"loss":2.0,"updates_per_second":12.0,"learning_rate":0.0005,"gradient_norm":1}
{"step":200,"valid_loss":1.9,"valid_exact_match":40.0,"valid_exit_histogram":[0.5,0.5,0,0]}
{"step":300,"loss":null,"updates_per_second":11.0}
{"step":400,"loss":1.0,"updates_per_second":11.0}
{"step":400,"valid_loss":0.8,"valid_exact_match":80.0,"valid_exit_histogram":[0.1,0.2,0.3,0.4],)"
    R"("valid_examples":[{"source":"<3 may>","generated":"a","reference":"b"}]}
{"step":500,"lo)";

std::filesystem::path make_run(const TemporaryFolder& folder, const std::string& name,
                               const std::string& r, const std::string& metrics = kMetrics) {
  const std::filesystem::path run = folder / name;
  std::filesystem::create_directories(run);
  write_file_atomically(run / "config.toml",
                        "[train]\nscore = \"exact-match\"\nout = \"" + name +
                            "\"\n[data]\ntask = \"dates\"\n[process]\nr = " + r + "\n");
  write_file_atomically(run / "metrics.jsonl", metrics);
  return run;
}

// The points of the curve with this CSS class below a caption, in the units of the drawing.
Numbers curve(const std::string& html, const std::string& caption, const std::string& css_class) {
  const std::string panel = html.substr(html.find("<b>" + caption + "</b>"));
  const std::string drawing = panel.substr(0, panel.find("</svg>"));
  std::smatch found;
  const std::regex line("<polyline class=\"curve " + css_class + "\" points=\"([^\"]*)\"");
  if (!std::regex_search(drawing, found, line)) return {};
  Numbers points;
  const std::string text = found[1];
  static const std::regex pair("([-0-9.]+),([-0-9.]+)");
  for (std::sregex_iterator it(text.begin(), text.end(), pair), end; it != end; ++it)
    points.emplace_back(std::stod((*it)[1]), std::stod((*it)[2]));
  return points;
}

std::vector<double> bar_heights(const std::string& html, const std::string& css_class) {
  std::vector<double> heights;
  const std::regex bar("<rect class=\"bar " + css_class + "\"[^>]* height=\"([0-9.]+)\"");
  for (std::sregex_iterator it(html.begin(), html.end(), bar), end; it != end; ++it)
    heights.push_back(std::stod((*it)[1]));
  return heights;
}

TEST(RunRecord, ReadsWhatARunMeasured) {
  const TemporaryFolder folder;
  const RunRecord run = read_run(make_run(folder, "one", "0.5") / "");
  EXPECT_EQ(run.name, "one");
  EXPECT_EQ(run.settings.at("process.r"), "0.5");
  EXPECT_THAT(run.loss.steps, ElementsAre(100, 200, 400));  // null values are left out
  EXPECT_THAT(run.loss.values, ElementsAre(4, 2, 1));
  EXPECT_THAT(run.score(run).values, ElementsAre(40, 80));
  EXPECT_THAT(run.exit_histogram, ElementsAre(0.1, 0.2, 0.3, 0.4));  // of the last validation
  EXPECT_EQ(run.samples.size(), 1u);
  EXPECT_EQ(run.updates(), 400);
  EXPECT_FALSE(run.evaluation.has_value());
}

TEST(RunRecord, ReadsAnEvaluationThatLiesInTheFolder) {
  const TemporaryFolder folder;
  const auto path = make_run(folder, "one", "1");
  write_file_atomically(path / "evaluation.json",
                        R"({"split":"test","sentences":1000,"exact_match":99.5,"metrics":[]})");
  const RunRecord run = read_run(path);
  ASSERT_TRUE(run.evaluation.has_value());
  EXPECT_EQ(run.evaluation->exact_match, 99.5);
  EXPECT_THAT(training_page(std::vector{run}, ""), HasSubstr("99.5 ± 0.2 %"));

  write_file_atomically(path / "evaluation.json", R"({"kind":"image","images":4})");
  EXPECT_FALSE(read_run(path).evaluation.has_value()) << "which has no sentences";
  write_file_atomically(path / "evaluation.json", "{}");
  EXPECT_THAT(complaint([&] { read_run(path); }), HasSubstr("evaluation.json"));
}

TEST(RunRecord, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint([&] { read_run(folder / "none"); }), HasSubstr("none"));
  const auto path = make_run(folder, "empty", "1", "");
  EXPECT_THAT(complaint([&] { read_run(path); }), HasSubstr("holds no measurements"));
  std::filesystem::remove(path / "metrics.jsonl");
  EXPECT_THAT(complaint([&] { read_run(path); }), HasSubstr("metrics.jsonl"));
}

TEST(RunLabels, NameTheOneSettingThatDiffers) {
  const TemporaryFolder folder;
  const RunRecord a = read_run(make_run(folder, "a", "0")),
                  b = read_run(make_run(folder, "b", "1"));
  EXPECT_THAT(run_labels(std::vector{a, b}), ElementsAre("r = 0", "r = 1"));
  std::filesystem::create_directory(folder / "other");
  RunRecord namesake = read_run(make_run(folder, "other/a", "0"));
  EXPECT_THAT(run_labels(std::vector{a, namesake}),
              ElementsAre((folder / "a").string(), (folder / "other/a").string()));
  RunRecord c = b;
  c.settings["train.steps"] = "7";
  EXPECT_THAT(run_labels(std::vector{a, c}), ElementsAre("a", "b"));
  ASSERT_EQ(differences(std::vector{a, c}).size(), 2u);
  EXPECT_EQ(differences(std::vector{a, c})[0].key, "process.r");
}

TEST(TrainingReport, ScoresAreOfOneKindThatOfTheFirstRun) {
  const TemporaryFolder folder;
  const RunRecord exact = read_run(make_run(folder, "a", "0"));
  RunRecord bleu = read_run(make_run(folder, "b", "1"));
  bleu.settings["train.score"] = "bleu";
  bleu.bleu = {{200, 400}, {7, 9}};
  const std::string html = training_page(std::vector{exact, bleu}, "");
  EXPECT_THAT(html, HasSubstr("<td>80.0 %</td></tr>\n<tr><th>b</th>"));
  EXPECT_THAT(html, testing::Not(HasSubstr("<td>9.0 %</td>")));
}

TEST(TrainingReport, CurvesGoThroughWhatWasMeasured) {
  const TemporaryFolder folder;
  const std::vector<RunRecord> runs{read_run(make_run(folder, "a", "1"))};
  const std::string html = training_page(runs, "");

  const Numbers loss = curve(html, "Loss in training", "plain");  // 4, 2, 1 at 100, 200, 400
  ASSERT_EQ(loss.size(), 3u);
  const double update = (loss[1].first - loss[0].first) / 100;
  EXPECT_GT(update, 0);
  EXPECT_NEAR(loss[2].first - loss[1].first, 200 * update, 0.11);
  const double unit = (loss[1].second - loss[0].second) / 2;  // y grows downwards
  EXPECT_GT(unit, 0);
  EXPECT_NEAR(loss[2].second - loss[1].second, unit, 0.11);

  // The values fall from 1.9 to 0.8, rise from 0.0001 to 0.0005 and fall from 3 to 1. In the
  // drawing, y grows downwards.
  for (const auto& [caption, falls] :
       {std::pair("Loss in validation", true), std::pair("Learning rate", false),
        std::pair("Gradient", true)}) {
    const Numbers points = curve(html, caption, "plain");
    ASSERT_EQ(points.size(), 2u) << caption;
    EXPECT_EQ(points[1].second > points[0].second, falls) << caption;
  }
  EXPECT_THAT(html, HasSubstr(">learning rate × 10⁻⁴<")) << "so that its numbers are short";

  const Numbers score = curve(html, "Score in validation", "plain");  // 40, 80 of 100
  ASSERT_EQ(score.size(), 2u);
  EXPECT_NEAR(score[0].first, loss[1].first, 0.11);  // both at 200 of 400
  const double per_cent = (score[0].second - score[1].second) / 40;
  EXPECT_NEAR(score[1].second - 20 * per_cent, 30, 0.3);  // 100 % is the top of the chart

  const std::vector<double> bars = bar_heights(html, "plain-fill");
  ASSERT_EQ(bars.size(), 4u);
  for (size_t k = 1; k < 4; ++k) EXPECT_NEAR(bars[k] / bars[0], double(k + 1), 0.02) << k;
}

TEST(TrainingReport, ShowsRunsSideBySideWithTheirDifferences) {
  const TemporaryFolder folder;
  const std::vector<RunRecord> runs{read_run(make_run(folder, "a", "0")),
                                    read_run(make_run(folder, "b", "1"))};
  const std::string html = training_page(runs, "tessera report <a>");
  EXPECT_EQ(curve(html, "Loss in training", "plain").size(), 3u);
  EXPECT_EQ(curve(html, "Loss in training", "boundary").size(), 3u);
  EXPECT_EQ(bar_heights(html, "plain-fill").size(), 4u);
  EXPECT_EQ(bar_heights(html, "boundary-fill").size(), 4u);
  EXPECT_THAT(html, HasSubstr("<code>process.r</code></th><td>0</td><td>1</td>"));
  EXPECT_THAT(html, HasSubstr("&lt;3 may&gt;"));
  EXPECT_THAT(html, HasSubstr("tessera report &lt;a&gt;"));
  EXPECT_THAT(html, HasSubstr(training_sections(runs)));
}

TEST(TrainingReport, WhatNamesAndSentencesHoldIsTextAndNothingElse) {
  constexpr const char* kBad = "<img src=x onerror=alert(1)>";
  const TemporaryFolder folder;
  const auto path = make_run(
      folder, kBad, "1",
      R"({"step":1,"loss":0.5,"valid_bleu":1,"valid_distance":1,"valid_distance_name":"<script>a",)"
      R"("valid_examples":[{"source":"<script>a","generated":"\"'<b>","reference":"</td>"}],)"
      R"x("valid_images":"data:image/png;base64,\" onerror=\"alert(1)"})x"
      "\n"
      R"({"step":2,"loss":0.5,"valid_images":"https://elsewhere/x.png"})"
      "\n");
  write_file_atomically(path / "config.toml", "[data]\nkind = \"images\"\n");
  const std::string html = training_page(std::vector{read_run(path)}, kBad);
  const std::string own = html.substr(0, html.find("<script nonce="));
  EXPECT_THAT(own, Not(HasSubstr("<script")));
  EXPECT_THAT(own, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(own, Not(HasSubstr("\" onerror")));
  EXPECT_THAT(own, Not(HasSubstr("elsewhere")));
  EXPECT_THAT(own, HasSubstr("&lt;script&gt;a, validation"));
}

TEST(TrainingReport, ShowsHowASentenceCameOutOfNoise) {
  const TemporaryFolder folder;
  const auto path = make_run(folder, "a", "0");
  EXPECT_THAT(training_page(std::vector{read_run(path)}, ""), Not(HasSubstr("Out of noise")));
  std::string steps;
  for (int k = 20; k > 0; --k)
    steps += (k < 20 ? "," : "") + std::string(R"({"t":)") + std::to_string(100 * k) +
             R"(,"changed":0,"outside":0.5,"point":"a<","estimate":"ab"})";
  write_file_atomically(path / "condensation.json",
                        R"({"source":"<3 may>","steps":[)" + steps + "]}\n");
  const RunRecord run = read_run(path);
  ASSERT_EQ(run.condensation->steps.size(), 20u);
  const std::string html = training_page(std::vector{run}, "");
  EXPECT_THAT(html, HasSubstr("Out of noise"));
  EXPECT_THAT(html, HasSubstr("<tr><td>2000</td><td>a<mark>&lt;</mark></td><td>ab</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>100</td>")) << "the last step";
  EXPECT_THAT(html, HasSubstr("a: &lt;3 may&gt;"));
  write_file_atomically(path / "condensation.json", "{}");
  EXPECT_THAT(complaint([&] { read_run(path); }), HasSubstr("condensation.json"));
}

TEST(TrainingReport, LeavesOutNumbersThatNoTrainingMeasures) {
  const TemporaryFolder folder;
  const RunRecord run = read_run(make_run(folder, "a", "1",
                                          R"({"step":1,"loss":1e308}
{"step":2,"loss":-1e308,"valid_loss":1}
{"step":1e300,"loss":1}
{"step":3,"loss":2,"valid_exit_histogram":[1e308,0.5]}
)"));
  EXPECT_THAT(run.loss.values, ElementsAre(2));
  EXPECT_EQ(run.updates(), 3);
  EXPECT_TRUE(run.exit_histogram.empty());
  EXPECT_THAT(training_page(std::vector{run}, ""), HasSubstr("<svg"));
}

TEST(TrainingReport, FoldsTheConfigurationAway) {
  const TemporaryFolder folder;
  const RunRecord a = read_run(make_run(folder, "a", "0")),
                  b = read_run(make_run(folder, "b", "1"));
  const std::string one = training_page(std::vector{a}, "");
  EXPECT_THAT(one, HasSubstr("<details>"));
  EXPECT_THAT(one, HasSubstr("<code>process.r</code></th><td>0</td></tr>"));
  const std::string two = training_page(std::vector{a, b}, "");
  EXPECT_THAT(two, HasSubstr("<code>data.task</code></th><td>dates</td></tr>"));
  EXPECT_THAT(two, Not(HasSubstr("<code>train.out</code>"))) << "which they do not share";
}

TEST(TrainingReport, ExplainsTheWordsOfTheLog) {
  const TemporaryFolder folder;
  const std::string html = training_page(std::vector{read_run(make_run(folder, "a", "0"))}, "");
  for (const char* word : {"tau", "outside", "changed", "reach"})
    EXPECT_THAT(html, HasSubstr(std::string("<dt>") + word + "</dt>"));
}

TEST(TrainingReport, LeavesOutWhatWasNotMeasured) {
  const TemporaryFolder folder;
  const auto path = make_run(folder, "a", "1", "{\"step\":1,\"loss\":0.5}\n");
  const std::string html = training_page(std::vector{read_run(path)}, "");
  EXPECT_THAT(html, HasSubstr("Loss in training"));
  for (const char* absent : {"Score in validation", "Samples", "stopping time", "Updates a second",
                             "Gradient", "Learning rate", "Loss in validation", "What differs",
                             "Words of the log", "The score is", "nan"})
    EXPECT_THAT(html.substr(html.find("<main>"), html.find("<script") - html.find("<main>")),
                Not(HasSubstr(absent)));
}

}  // namespace
}  // namespace tessera::report
