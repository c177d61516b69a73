#pragma once

#include <string>
#include <vector>

#include "drawing/svg.h"

namespace tessera::drawing {

// Labels of points in a drawing. No label covers another one: a label that has no room above or
// below its point is left out, so place the most important ones first.
class Labels {
 public:
  // The drawing is `width` x `height`.
  Labels(double width, double height) : width_(width), height_(height) {}

  // Places the text above or below the point; false: there was no room.
  bool place(Svg& svg, Point at, const std::string& text);

 private:
  struct Box {
    double left, top, right, bottom;
  };
  bool is_free(const Box& box) const;

  double width_, height_;
  std::vector<Box> taken_;
};

}  // namespace tessera::drawing
