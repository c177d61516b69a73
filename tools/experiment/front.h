#pragma once

#include <string>
#include <vector>

#include "drawing/figure.h"
#include "experiment/findings.h"
#include "experiment/text_tables.h"

namespace tessera::experiment {

// A cell as a point: what it costs and what it reaches, both means over its seeds.
struct FrontPoint {
  const FoundCell* cell = nullptr;
  double cost = 0, score = 0;
  bool on_front = false;  // no other of its series is as good at this cost or below it
};

struct FrontSeries {
  std::string name;
  std::vector<FrontPoint> points;  // cheapest first; of equal cost the best first
};

// The cells of a table that has a front, series by series. Cells that lack a seed are left out: a
// mean of fewer seeds is another number.
std::vector<FrontSeries> front_series(const Findings& findings);

// The best point that costs no more than this; nullptr: there is none.
const FrontPoint* best_within(const FrontSeries& series, double budget);

// Tables about the front; empty if the experiment has none or nothing is done yet.
TextTable front_table(const Findings& findings);   // the points on it
TextTable budget_table(const Findings& findings);  // the best of every series within each budget
Json front_json(const Findings& findings);

// Scores over the logarithm of costs. Points on the front are joined, and labelled if there is
// room.
//   series  at least one, of one point or more
drawing::Panel front_panel(const Findings& findings, const std::vector<FrontSeries>& series);

}  // namespace tessera::experiment
