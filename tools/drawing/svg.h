#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drawing/point.h"

namespace tessera::drawing {

// Escapes the characters that are special in HTML or XML, for text between tags and in attributes.
// All text from names, data and models goes through it.
std::string escaped(std::string_view text);

// A number as short as a drawing needs it: "12.3", "-4", "0.05" with two decimals.
std::string number(double value, int decimals = 1);

// The elements of a drawing, in the units of its view box, y downwards. Looks come from classes.
class Svg {
 public:
  void polygon(const std::vector<Point>& corners, std::string_view css_class);
  void polyline(const std::vector<Point>& points, std::string_view css_class);
  void line(Point from, Point to, std::string_view css_class);
  void circle(Point centre, double radius, std::string_view css_class);
  void cross(Point centre, double radius, std::string_view css_class);
  void rectangle(Point corner, double width, double height, std::string_view css_class);
  void text(Point at, std::string_view text, std::string_view css_class);
  // Dots as one element: as wide as the stroke of the class, which must have round caps.
  void dots(const std::vector<Point>& points, std::string_view css_class);
  // Any element that is not among the above.
  void raw(std::string_view element);

  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

}  // namespace tessera::drawing
