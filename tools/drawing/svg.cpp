#include "drawing/svg.h"

#include <fmt/format.h>

#include <iterator>

namespace tessera::drawing {
namespace {

std::string list(const std::vector<Point>& points) {
  std::string text;
  for (const Point& p : points) {
    if (!text.empty()) text += ' ';
    text += number(p.x) + ',' + number(p.y);
  }
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string number(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

void Svg::polygon(const std::vector<Point>& corners, std::string_view css_class) {
  fmt::format_to(std::back_inserter(body_), "<polygon class=\"{}\" points=\"{}\"/>\n", css_class,
                 list(corners));
}

void Svg::polyline(const std::vector<Point>& points, std::string_view css_class) {
  fmt::format_to(std::back_inserter(body_), "<polyline class=\"{}\" points=\"{}\"/>\n", css_class,
                 list(points));
}

void Svg::line(Point from, Point to, std::string_view css_class) {
  fmt::format_to(std::back_inserter(body_), "<path class=\"{}\" d=\"M{} {}L{} {}\"/>\n", css_class,
                 number(from.x), number(from.y), number(to.x), number(to.y));
}

void Svg::circle(Point centre, double radius, std::string_view css_class) {
  fmt::format_to(std::back_inserter(body_), "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
                 css_class, number(centre.x), number(centre.y), number(radius));
}

void Svg::cross(Point centre, double radius, std::string_view css_class) {
  const auto arm = number(radius), whole = number(2 * radius);
  fmt::format_to(std::back_inserter(body_),
                 "<path class=\"{}\" d=\"M{} {}m-{} -{}l{} {}m0 -{}l-{} {}\"/>\n", css_class,
                 number(centre.x), number(centre.y), arm, arm, whole, whole, whole, whole, whole);
}

void Svg::rectangle(Point corner, double width, double height, std::string_view css_class) {
  fmt::format_to(std::back_inserter(body_),
                 "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", css_class,
                 number(corner.x), number(corner.y), number(width), number(height));
}

void Svg::text(Point at, std::string_view text, std::string_view css_class) {
  fmt::format_to(std::back_inserter(body_), "<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n",
                 css_class, number(at.x), number(at.y), escaped(text));
}

void Svg::dots(const std::vector<Point>& points, std::string_view css_class) {
  if (points.empty()) return;
  fmt::format_to(std::back_inserter(body_), "<path class=\"{}\" d=\"", css_class);
  for (const Point& p : points)
    fmt::format_to(std::back_inserter(body_), "M{} {}h0", number(p.x), number(p.y));
  body_ += "\"/>\n";
}

void Svg::raw(std::string_view element) {
  body_ += element;
}

}  // namespace tessera::drawing
