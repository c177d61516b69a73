#pragma once

#include <span>
#include <string>
#include <vector>

#include "drawing/figure.h"
#include "report/run_record.h"

namespace tessera::report {

// One curve of a chart for every run, in the order of the runs; empty ones are left out.
struct Curves {
  std::string caption, y_title;
  std::vector<const Series*> runs = {};
  double top = 0;                    // the axis reaches at least to here
  bool points = false;               // mark the measurements
  std::vector<size_t> colours = {};  // one for every run; empty: each has its own
};

// Lines over updates.
drawing::Panel curve_panel(const Curves& curves);

// Bars of t0 / T, those of the runs side by side.
drawing::Panel histogram_panel(std::span<const RunRecord> runs);

// Names beside strokes of the first colours, one each (HTML).
std::string legend(const std::vector<std::string>& labels);

// The style classes of a run's curve and of what is filled with its colour.
std::string stroke_class(size_t run);
std::string fill_class(size_t run);

}  // namespace tessera::report
