#include "drawing/chart.h"

#include <algorithm>
#include <cmath>

namespace tessera::drawing {

constexpr double kFarthest = 1e300;  // on an axis

Point Chart::at(double x, double y) const {
  return {kLeft + (width_ - kLeft - kRight) * x / x_max_,
          height_ - kBottom - (height_ - kTop - kBottom) * (y - y_min_) / (y_max_ - y_min_)};
}

void Chart::x_tick(double x, const std::string& text) {
  svg.text({at(x, y_min_).x, height_ - kBottom + 18}, text, "chart middle faint");
}

void Chart::y_tick(double y, const std::string& text) {
  svg.line(at(0, y), at(x_max_, y), "grid");
  svg.text({kLeft - 8, at(0, y).y + 4}, text, "chart end faint");
}

void Chart::axis(const std::string& x_title, const std::string& y_title) {
  svg.line(at(0, y_min_), at(x_max_, y_min_), "axis");
  svg.text({at(x_max_ / 2, y_min_).x, height_ - 6}, x_title, "chart middle");
  svg.text({4, 14}, y_title, "chart");
}

std::vector<double> round_ticks(double low, double high, int count) {
  // The ends of the axis must be finite and distinct, whatever is to be shown.
  low = std::clamp(low, -kFarthest, kFarthest);
  high = std::clamp(high, low, kFarthest);
  const double least = std::max(1e-9, 1e-12 * std::max(std::abs(low), std::abs(high)));
  const double rough = std::max(high - low, least) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::max(first + 1, std::ceil(high / step - 1e-9));
  std::vector<double> ticks;
  for (double k = first; k <= last; ++k) ticks.push_back(k * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  constexpr double kNear = 1e-9;
  low = std::clamp(low, 1 / kFarthest, kFarthest);
  high = std::clamp(high, low, kFarthest);
  std::vector<double> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0})
      if (const double tick = factor * power;
          tick >= low * (1 - kNear) && tick <= high * (1 + kNear))
        ticks.push_back(tick);
  return ticks;
}

}  // namespace tessera::drawing
