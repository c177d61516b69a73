#include "drawing/figure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"
#include "drawing/palette.h"
#include "drawing/svg.h"

namespace tessera::drawing {

std::string inline_svg(const Panel& panel) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     number(panel.width), number(panel.height), escaped(panel.caption), panel.body);
}

std::string svg_file(const Figure& figure) {
  constexpr double margin = 28, gap = 20, heading = 34, caption = 26;
  const size_t columns = std::min<size_t>(figure.columns, figure.panels.size());
  const size_t rows = ceil_div(figure.panels.size(), columns);
  double panel_width = 0, panel_height = 0;
  for (const Panel& panel : figure.panels) {
    panel_width = std::max(panel_width, panel.width);
    panel_height = std::max(panel_height, panel.height);
  }
  const double cell_width = panel_width + gap, cell_height = panel_height + caption + gap;
  const double width = 2 * margin + columns * cell_width - gap;
  const double height = 2 * margin + heading + rows * cell_height - gap;

  Svg body;
  body.rectangle({0, 0}, width, height, "paper");
  body.text({margin, margin + 16}, figure.title, "title");
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    const double x = margin + (i % columns) * cell_width;
    const double y = margin + heading + (i / columns) * cell_height;
    body.text({x, y + 16}, panel.caption, "caption");
    // A nested drawing cuts off what is outside its panel.
    body.raw(fmt::format(
        "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
        "viewBox=\"0 0 {2} {3}\">\n{4}</svg>\n",
        number(x), number(y + caption), number(panel.width), number(panel.height), panel.body));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n<style>\n{3}</style>\n{4}</svg>\n",
      number(width), number(height), escaped(figure.title), drawing_style(), body.body());
}

}  // namespace tessera::drawing
