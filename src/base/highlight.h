#pragma once

#include <string_view>

namespace tessera::log {

// A line of the log as info() writes it, bold on a terminal that shows colours: for what a person
// waits for.
void highlight(std::string_view text);

}  // namespace tessera::log
