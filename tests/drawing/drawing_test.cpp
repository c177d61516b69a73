#include "drawing/chart.h"
#include "drawing/page.h"
#include "drawing/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tessera::drawing {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

TEST(Svg, WritesNumbersAsShortAsTheyCanBe) {
  EXPECT_EQ(number(1.25, 2), "1.25");
  EXPECT_EQ(number(3.0), "3");
  EXPECT_EQ(number(-0.01), "0");
  EXPECT_EQ(number(100, 0), "100");
  EXPECT_EQ(number(-2.50, 2), "-2.5");
  EXPECT_EQ(escaped("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
}

void expect_ticks(double low, double high, int count, const std::vector<double>& wanted) {
  EXPECT_THAT(round_ticks(low, high, count), Pointwise(DoubleNear(1e-9), wanted))
      << low << " to " << high;
}

TEST(Chart, TicksAreRoundAndCoverTheRange) {
  expect_ticks(0, 100, 4, {0, 50, 100});
  expect_ticks(0, 100, 5, {0, 20, 40, 60, 80, 100});
  expect_ticks(0, 2.91, 4, {0, 1, 2, 3});
  expect_ticks(-0.3, 0.9, 4, {-0.5, 0, 0.5, 1});
  expect_ticks(0, 1800, 4, {0, 500, 1000, 1500, 2000});
  expect_ticks(7, 7, 4, round_ticks(7, 7, 4));
  EXPECT_GE(round_ticks(7, 7, 4).size(), 2u);
}

TEST(Chart, TicksOfLogarithmsAreRoundAndWithinTheRange) {
  EXPECT_THAT(log_ticks(1, 100), Pointwise(DoubleNear(1e-9), {1, 2, 5, 10, 20, 50, 100}));
  EXPECT_THAT(log_ticks(3, 30), Pointwise(DoubleNear(1e-9), {5, 10, 20}));
  EXPECT_THAT(log_ticks(0.02, 0.2), Pointwise(DoubleNear(1e-12), {0.02, 0.05, 0.1, 0.2}));
}

// Also for ranges whose ends are equal, or whose width is larger than any number.
TEST(Chart, TicksAreFewAndFiniteWhateverTheRange) {
  const double huge = std::numeric_limits<double>::max(),
               tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<std::pair<double, double>> ranges{
      {0, 0}, {1e12, 1e12}, {1e30, 1e30}, {-huge, huge}, {huge, huge}, {-huge, -huge}, {0, tiny}};
  for (const auto& [low, high] : ranges) {
    const std::vector<double> ticks = round_ticks(low, high, 5);
    EXPECT_GE(ticks.size(), 2u);
    EXPECT_LE(ticks.size(), 12u) << low << " to " << high;
    for (size_t k = 1; k < ticks.size(); ++k) EXPECT_LT(ticks[k - 1], ticks[k]);
    EXPECT_TRUE(std::isfinite(ticks.front()) && std::isfinite(ticks.back()));
  }
  EXPECT_LE(log_ticks(tiny, 1).size(), 1000u);
  EXPECT_LE(log_ticks(1, huge).size(), 1000u);
}

TEST(Chart, PutsTheEndsOfTheRangesOnTheAxes) {
  const Chart chart(400, 300, 10, 5, 1);
  EXPECT_LT(chart.at(0, 1).x, chart.at(10, 1).x);
  EXPECT_GT(chart.at(0, 1).y, chart.at(0, 5).y);
  EXPECT_DOUBLE_EQ(chart.at(5, 3).y, (chart.at(0, 1).y + chart.at(0, 5).y) / 2);
  EXPECT_LT(chart.at(10, 5).x, 400);
  EXPECT_GT(chart.at(0, 5).y, 0);
}

TEST(Page, EscapesTitleAndHeadingButNotItsParts) {
  const std::string html = page({.title = "a < b",
                                 .heading = "c & d",
                                 .lead = "<i>lead</i>",
                                 .body = section("One", "<p>two</p>"),
                                 .footer = "<p>three</p>",
                                 .script = "four()"});
  for (const char* part : {"<title>a &lt; b</title>", "<h1>c &amp; d</h1>", "<i>lead</i>",
                           "<h2>One</h2>", "<p>two</p>", "<p>three</p>", "four()"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(Page, RunsNoScriptsButItsOwn) {
  const std::string html = page(
      {.title = "", .heading = "", .lead = "", .body = "<p>x</p>", .footer = "", .script = ""});
  const size_t begin = html.find("script-src 'nonce-") + 18;
  const std::string word = html.substr(begin, html.find('\'', begin) - begin);
  EXPECT_GE(word.size(), 16u);
  EXPECT_NE(html.find("default-src 'none'; img-src data:;"), std::string::npos);
  EXPECT_NE(html.find("<script nonce=\"" + word + "\">"), std::string::npos);
  const std::string other = page(
      {.title = "", .heading = "", .lead = "", .body = "<p>y</p>", .footer = "", .script = ""});
  EXPECT_EQ(other.find(word), std::string::npos);
}

TEST(Svg, EscapesTextForTagsAndAttributes) {
  EXPECT_EQ(escaped("<script>a('&\")"), "&lt;script&gt;a(&#39;&amp;&quot;)");
}

TEST(Page, DoesNotTearEquationsApart) {
  EXPECT_NE(section("One", "<p>at <i>r</i> = 0.5</p>").find("<i>r</i>&nbsp;=&nbsp;0.5"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::drawing
