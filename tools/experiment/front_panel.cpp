#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <vector>

#include "drawing/chart.h"
#include "drawing/labels.h"
#include "experiment/front.h"
#include "report/training_charts.h"

namespace tessera::experiment {
namespace {

using drawing::Point;

constexpr double kWidth = 600, kHeight = 380;
constexpr double kMargin = 1.15;  // the axis extends by this factor beyond the first and last cost

// "7x3, 4": values alone, or the name of the row if nothing was swept.
std::string label_of(const Cell& cell) {
  std::string text;
  for (const auto& [name, value] : cell.swept) text += (text.empty() ? "" : ", ") + value;
  return text.empty() ? cell.row : text;
}

}  // namespace

drawing::Panel front_panel(const Findings& findings, const std::vector<FrontSeries>& series) {
  const Table& table = *findings.table;
  const Column& score = *std::ranges::find(table.columns, table.front->score, &Column::key);
  double low = std::numeric_limits<double>::infinity(), high = -low, first = low, last = 0;
  for (const FrontSeries& each : series) {
    first = std::min(first, each.points.front().cost);
    last = std::max(last, each.points.back().cost);
    for (const FrontPoint& point : each.points) {
      low = std::min(low, point.score);
      high = std::max(high, point.score);
    }
  }
  const std::vector<double> heights = drawing::round_ticks(low, high, 6);
  const double begin = std::log10(first / kMargin), end = std::log10(last * kMargin);
  drawing::Chart chart(kWidth, kHeight, end - begin, heights.back(), heights.front());
  for (const double height : heights) chart.y_tick(height, drawing::number(height, 2));
  for (const double cost : drawing::log_ticks(first, last))
    chart.x_tick(std::log10(cost) - begin, drawing::number(cost, 2));
  chart.axis(table.front->cost.title + " (logarithmic)", score.title);

  const auto place = [&](const FrontPoint& point) {
    return chart.at(std::log10(point.cost) - begin, point.score);
  };
  for (size_t k = 0; k < series.size(); ++k) {
    const std::string fill = report::fill_class(k);
    std::vector<Point> front;
    for (const FrontPoint& point : series[k].points) {
      if (point.on_front)
        front.push_back(place(point));
      else
        chart.svg.circle(place(point), 2.5, fill);
    }
    chart.svg.polyline(front, "curve " + report::stroke_class(k));
    for (const Point& at : front) chart.svg.circle(at, 4.5, "code " + fill);
  }
  // Labels come last, so that nothing is drawn over them: first the best settings within the
  // budgets, then the dearest ones. The page lists those that have no label.
  std::vector<const FrontPoint*> labelled;
  const auto label = [&](const FrontPoint* point) {
    if (point && std::ranges::find(labelled, point) == labelled.end()) labelled.push_back(point);
  };
  for (const double budget : table.front->budgets)
    for (const FrontSeries& each : series) label(best_within(each, budget));
  for (const FrontSeries& each : series)
    for (const FrontPoint& point : std::views::reverse(each.points))
      if (point.on_front) label(&point);
  drawing::Labels labels(kWidth, kHeight);
  for (const FrontPoint* point : labelled)
    labels.place(chart.svg, place(*point), label_of(*point->cell->cell));
  return {score.title + " over " + table.front->cost.title, chart.svg.body(), kWidth, kHeight};
}

}  // namespace tessera::experiment
