#pragma once

#include <string>
#include <vector>

namespace tessera::drawing {

// One picture of a figure.
struct Panel {
  std::string caption;  // a few words
  std::string body;     // SVG elements within [0, width] x [0, height]
  double width = 300, height = 300;
};

// Pictures that belong together. In the page they flow as the screen allows; in a file they stand
// in rows.
struct Figure {
  std::string name;   // of its file, without extension
  std::string title;  // one line
  std::vector<Panel> panels;
  int columns = 1;  // at most, in the file
};

// One panel as an element of an HTML page.
std::string inline_svg(const Panel& panel);

// The figure as an SVG file with its own colours and background, light and dark.
std::string svg_file(const Figure& figure);

}  // namespace tessera::drawing
