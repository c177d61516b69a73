#include "drawing/labels.h"

#include <algorithm>

namespace tessera::drawing {
namespace {

// Of the class "chart label": a bold font of 11 to 13 units.
constexpr double kLetter = 7.2, kAscent = 11, kDescent = 3;
// From a point to the base line of its label.
constexpr double kAbove = -10, kBelow = 19;

}  // namespace

bool Labels::is_free(const Box& box) const {
  if (box.left < 0 || box.top < 0 || box.right > width_ || box.bottom > height_) return false;
  return std::ranges::none_of(taken_, [&](const Box& other) {
    return box.left < other.right && other.left < box.right && box.top < other.bottom &&
           other.top < box.bottom;
  });
}

bool Labels::place(Svg& svg, Point at, const std::string& text) {
  const double half = kLetter * static_cast<double>(text.size()) / 2;
  for (const double shift : {kAbove, kBelow}) {
    const double base = at.y + shift;
    const Box box{at.x - half, base - kAscent, at.x + half, base + kDescent};
    if (!is_free(box)) continue;
    taken_.push_back(box);
    svg.text({at.x, base}, text, "chart middle label");
    return true;
  }
  return false;
}

}  // namespace tessera::drawing
