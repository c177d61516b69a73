#include "experiment/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tessera::experiment {
namespace {

size_t score_column(const Table& table) {
  const auto found = std::ranges::find(table.columns, table.front->score, &Column::key);
  return static_cast<size_t>(found - table.columns.begin());
}

// The mean over all evaluations of a cell; nothing if one is missing.
std::optional<double> mean_cost(const FoundCell& cell, const std::string& key) {
  double sum = 0;
  for (const Measured& measured : cell.measured) {
    const auto value = measured.done() ? value_of(measured.report, key) : std::nullopt;
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(cell.measured.size());
}

// Marks the points that are better than all before them.
void mark_front(std::vector<FrontPoint>& points, bool lowest_is_best) {
  const auto worth = [&](const FrontPoint& point) {
    return lowest_is_best ? -point.score : point.score;
  };
  std::ranges::stable_sort(points, [&](const FrontPoint& a, const FrontPoint& b) {
    return std::tuple(a.cost, -worth(a)) < std::tuple(b.cost, -worth(b));
  });
  const FrontPoint* best = nullptr;
  for (FrontPoint& point : points) {
    point.on_front = !best || worth(point) > worth(*best);
    if (point.on_front) best = &point;
  }
}

// "candidates = 7x3, steps = 4", or the name of the row if nothing was swept.
std::string settings_of(const Cell& cell) {
  std::string text;
  for (const auto& [name, value] : cell.swept)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? cell.row : text;
}

Json point_json(const FrontPoint& point) {
  const Cell& cell = *point.cell->cell;
  Json settings = Json::object();
  for (const auto& [name, value] : cell.swept) settings[name] = value;
  return {{"row", cell.row},    {"column", cell.column}, {"settings", settings},
          {"cost", point.cost}, {"score", point.score},  {"on_front", point.on_front}};
}

}  // namespace

std::vector<FrontSeries> front_series(const Findings& findings) {
  const Table& table = *findings.table;
  std::vector<FrontSeries> all;
  if (!table.front) return all;
  const size_t column = score_column(table);
  for (const FoundCell& cell : findings.cells) {
    const Score& score = cell.scores[column];
    const auto cost = mean_cost(cell, table.front->cost.key);
    if (!cost || *cost <= 0 || score.seeds < cell.measured.size()) continue;
    auto series = std::ranges::find(all, cell.cell->series, &FrontSeries::name);
    if (series == all.end()) series = all.insert(all.end(), {cell.cell->series, {}});
    series->points.push_back({&cell, *cost, score.mean});
  }
  for (FrontSeries& series : all) mark_front(series.points, table.front->lowest_is_best);
  return all;
}

const FrontPoint* best_within(const FrontSeries& series, double budget) {
  const FrontPoint* best = nullptr;
  for (const FrontPoint& point : series.points)
    if (point.on_front && point.cost <= budget) best = &point;
  return best;
}

TextTable front_table(const Findings& findings) {
  const Table& table = *findings.table;
  if (!table.front) return {};
  const size_t column = score_column(table);
  const Column& score = table.columns[column];
  TextTable front{{"on the front", "settings", table.front->cost.title, score.title}, {}};
  for (const FrontSeries& series : front_series(findings))
    for (const FrontPoint& point : series.points)
      if (point.on_front)
        front.rows.push_back({series.name, settings_of(*point.cell->cell),
                              fmt::format("{:.{}f}", point.cost, table.front->cost.decimals),
                              score_text(*point.cell, column, score.decimals)});
  return front;
}

TextTable budget_table(const Findings& findings) {
  const Table& table = *findings.table;
  if (!table.front) return {};
  const size_t column = score_column(table);
  const auto all = front_series(findings);
  TextTable budgets{{table.front->cost.title}, {}};
  for (const FrontSeries& series : all) budgets.head.push_back(series.name);
  if (all.empty()) return budgets;
  for (const double budget : table.front->budgets) {
    auto& row = budgets.rows.emplace_back();
    row.push_back(fmt::format("at most {:g}", budget));
    for (const FrontSeries& series : all) {
      const FrontPoint* best = best_within(series, budget);
      row.push_back(
          best ? fmt::format("{} ({}: {:.{}f})",
                             score_text(*best->cell, column, table.columns[column].decimals),
                             settings_of(*best->cell->cell), best->cost, table.front->cost.decimals)
               : "–");
    }
  }
  return budgets;
}

Json front_json(const Findings& findings) {
  const Front& front = *findings.table->front;
  Json json{{"cost", front.cost.key},
            {"score", front.score},
            {"best", front.lowest_is_best ? "lowest" : "highest"},
            {"series", Json::array()},
            {"budgets", Json::array()}};
  const auto all = front_series(findings);
  for (const FrontSeries& series : all) {
    Json& made = json["series"].emplace_back(Json{{"name", series.name}});
    for (const FrontPoint& point : series.points) made["points"].push_back(point_json(point));
  }
  for (const double budget : front.budgets) {
    Json& made = json["budgets"].emplace_back(Json{{"at_most", budget}, {"best", Json::object()}});
    for (const FrontSeries& series : all)
      if (const FrontPoint* best = best_within(series, budget))
        made["best"][series.name] = point_json(*best);
  }
  return json;
}

}  // namespace tessera::experiment
