#pragma once

#include <string>
#include <string_view>

#include "drawing/figure.h"

namespace tessera::drawing {

// What a page consists of. Title and heading are text; all else is HTML.
struct PageParts {
  std::string title;            // of the window
  std::string heading;          // the one line at the top
  std::string lead;             // the paragraph below it
  std::string body;             // sections
  std::string footer;           // paragraphs
  std::string script;           // JavaScript, after the page's own
  std::string navigation = {};  // links, above the heading
  std::string style = {};       // CSS, after the page's own
  bool has_figures = true;      // their colours are needed
  bool asks_server = false;     // scripts may ask the server that the page comes from
};

// One HTML file that needs no other: light and dark, for wide and narrow screens.
std::string page(const PageParts& parts);

std::string section(std::string_view title, std::string_view content);

// The panels of a figure: `columns` of them side by side, `narrow` on a small screen.
//   kind  "plane" for pictures of the plane, "chart" for a chart, "charts" for several
std::string panels(const Figure& figure, int columns, int narrow, std::string_view kind);

std::string captioned(std::string_view content, std::string_view caption);

// Paragraphs for a footer: which version made the page, and with which command (as text; empty: not
// shown).
std::string made_by(std::string_view command);

// Embedded in the page.
extern const std::string_view kPageStyle;    // of text and layout; figures have their own
extern const std::string_view kThemeScript;  // the button for light and dark

}  // namespace tessera::drawing
