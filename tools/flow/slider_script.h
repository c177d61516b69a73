#pragma once

#include <string_view>

namespace tessera::flow {

// What moves the dots of the page's two sliders.
extern const std::string_view kSliderScript;

}  // namespace tessera::flow
