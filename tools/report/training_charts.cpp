#include "report/training_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "drawing/chart.h"

namespace tessera::report {
namespace {

using drawing::Chart;
using drawing::Panel;
using drawing::Point;

constexpr double kWidth = 480, kHeight = 300;
constexpr int kTicks = 5;

// The first two runs look as r = 0 and r = 1 do in the pictures of the plane.
constexpr std::array<std::string_view, 8> kStrokes{"plain", "boundary", "s1", "s3",
                                                   "s4",    "s5",       "s6", "s2"};
constexpr std::array<std::string_view, 8> kFills{
    "plain-fill", "boundary-fill", "f1", "f3", "f4", "f5", "f6", "f2"};

int decimals_of(const std::vector<double>& ticks) {
  // Steps are 1, 2 or 5 times a power of ten, up to rounding.
  const double places = std::ceil(-std::log10(ticks[1] - ticks[0]) - 1e-9);
  return static_cast<int>(std::clamp(places, 0.0, 9.0));
}

void ticks_of_x(Chart& chart, const std::vector<double>& ticks, double end) {
  for (const double x : ticks)
    if (x <= end) chart.x_tick(x, drawing::number(x, decimals_of(ticks)));
}

// The power of ten in which the numbers of an axis are short.
int power_of(const std::vector<double>& ticks) {
  const double largest = std::max(std::abs(ticks.front()), std::abs(ticks.back()));
  return largest >= 0.01 && largest < 1e5 ? 0 : static_cast<int>(std::floor(std::log10(largest)));
}

// " × 10⁻⁴", or nothing.
std::string power_text(int power) {
  constexpr std::array<std::string_view, 10> kDigits{"⁰", "¹", "²", "³", "⁴",
                                                     "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (power == 0) return "";
  std::string text = power < 0 ? " × 10⁻" : " × 10";
  for (const char digit : fmt::format("{}", std::abs(power)))
    text += kDigits[static_cast<size_t>(digit - '0')];
  return text;
}

void ticks_of_y(Chart& chart, std::vector<double> ticks) {
  const double unit = std::pow(10.0, power_of(ticks));
  const std::vector<double> places = ticks;
  for (double& y : ticks) y /= unit;
  for (size_t k = 0; k < ticks.size(); ++k)
    chart.y_tick(places[k], drawing::number(ticks[k], decimals_of(ticks)));
}

}  // namespace

std::string stroke_class(size_t run) {
  return std::string(kStrokes[run % kStrokes.size()]);
}

std::string fill_class(size_t run) {
  return std::string(kFills[run % kFills.size()]);
}

std::string legend(const std::vector<std::string>& labels) {
  std::string html = "<p class=\"legend\">\n";
  for (size_t k = 0; k < labels.size(); ++k)
    html += fmt::format(
        "<span><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><path class=\"curve {}\" "
        "d=\"M2 5h22\"/></svg>{}</span>\n",
        stroke_class(k), drawing::escaped(labels[k]));
  return html + "</p>\n";
}

Panel curve_panel(const Curves& curves) {
  double low = 0, high = curves.top, end = 1;
  for (const Series* series : curves.runs) {
    for (const double value : series->values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (!series->empty()) end = std::max(end, series->steps.back());
  }
  const std::vector<double> heights = drawing::round_ticks(low, high, kTicks);
  Chart chart(kWidth, kHeight, end, heights.back(), heights.front());
  ticks_of_y(chart, heights);
  ticks_of_x(chart, drawing::round_ticks(0, end, kTicks), end);
  chart.axis("updates", curves.y_title + power_text(power_of(heights)));
  for (size_t run = 0; run < curves.runs.size(); ++run) {
    const Series& series = *curves.runs[run];
    if (series.empty()) continue;
    std::vector<Point> points;
    for (size_t k = 0; k < series.steps.size(); ++k)
      points.push_back(chart.at(series.steps[k], series.values[k]));
    const size_t colour = curves.colours.empty() ? run : curves.colours[run];
    chart.svg.polyline(points, "curve " + stroke_class(colour));
    if (!curves.points) continue;
    for (const Point& p : points) chart.svg.circle(p, 4, "code " + fill_class(colour));
  }
  return {curves.caption, chart.svg.body(), kWidth, kHeight};
}

Panel histogram_panel(std::span<const RunRecord> runs) {
  double high = 0;
  for (const RunRecord& run : runs)
    for (const double share : run.exit_histogram) high = std::max(high, 100 * share);
  const std::vector<double> heights = drawing::round_ticks(0, high, kTicks);
  Chart chart(kWidth, kHeight, 1, heights.back());
  ticks_of_y(chart, heights);
  ticks_of_x(chart, drawing::round_ticks(0, 1, kTicks), 1);
  for (size_t run = 0; run < runs.size(); ++run) {
    const std::vector<double>& shares = runs[run].exit_histogram;
    const auto bins = static_cast<double>(shares.size()), count = static_cast<double>(runs.size());
    for (size_t k = 0; k < shares.size(); ++k) {
      // A tenth of the bin stays free on either side.
      const double left = (static_cast<double>(k) + 0.1 + 0.8 * static_cast<double>(run) / count);
      const Point top = chart.at(left / bins, 100 * shares[k]);
      const Point bottom = chart.at((left + 0.8 / count) / bins, 0);
      if (bottom.y - top.y < 0.05) continue;
      chart.svg.rectangle(top, bottom.x - top.x, bottom.y - top.y, "bar " + fill_class(run));
    }
  }
  chart.axis("stopping time t0 as a share of T", "percent of the symbols");
  return {"Where paths leave their cells", chart.svg.body(), kWidth, kHeight};
}

}  // namespace tessera::report
