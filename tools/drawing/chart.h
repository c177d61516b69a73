#pragma once

#include <string>
#include <vector>

#include "drawing/point.h"
#include "drawing/svg.h"

namespace tessera::drawing {

// The axes of a chart, which place its values. x begins at 0.
class Chart {
 public:
  Chart(double width, double height, double x_max, double y_max, double y_min = 0)
      : width_(width), height_(height), x_max_(x_max), y_min_(y_min), y_max_(y_max) {}

  // The place of a value in the drawing.
  Point at(double x, double y) const;

  void x_tick(double x, const std::string& text);
  void y_tick(double y, const std::string& text);
  void axis(const std::string& x_title, const std::string& y_title);

  Svg svg;

 private:
  static constexpr double kLeft = 44, kRight = 28, kTop = 30, kBottom = 44;
  double width_, height_, x_max_, y_min_, y_max_;
};

// Round numbers from `low` to `high`, both covered, in about `count` steps of 1, 2 or 5 times a
// power of ten.
std::vector<double> round_ticks(double low, double high, int count);

// Numbers from `low` to `high`, both above 0, that are 1, 2 or 5 times a power of ten: for an axis
// of logarithms.
std::vector<double> log_ticks(double low, double high);

}  // namespace tessera::drawing
