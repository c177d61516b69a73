#pragma once

#include <string_view>

namespace tessera::flow {

// The script that moves the dots with the page's two sliders.
extern const std::string_view kSliderScript;

}  // namespace tessera::flow
