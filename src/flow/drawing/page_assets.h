#pragma once

#include <string_view>

namespace tessera::flow {

// What the page carries within itself.
extern const std::string_view kPageStyle;   // of text and layout; figures have their own
extern const std::string_view kPageScript;  // the theme button and the two sliders

}  // namespace tessera::flow
