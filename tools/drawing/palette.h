#pragma once

#include <cstdint>
#include <string>

namespace tessera::drawing {

// The colours of the figures, as style sheets for the classes the figures use.

constexpr int64_t kHues = 8;  // further symbols share the hues of the first

// Rules for a drawing that stands alone: light, and dark if the viewer asks for it.
std::string drawing_style();

// Rules for drawings within the page: its theme is the reader's choice (the root's data-theme), or
// else the system's.
std::string page_drawing_style();

// The same colours for elements of a page that are no drawings: --tile-0, --mark-0, ..., one pair
// for each hue.
std::string page_colours();

}  // namespace tessera::drawing
