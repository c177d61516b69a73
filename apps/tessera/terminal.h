#pragma once

#include <string>
#include <string_view>

namespace tessera::app {

// Whether stderr is a terminal on which lines can be redrawn: TERM is set, and not to "dumb".
bool stderr_is_terminal();

// Whether colours are shown on stderr: it is such a terminal, and NO_COLOR is unset or empty.
bool stderr_shows_colours();

enum class Paint { bold, yellow, red };

// Text for stderr: coloured if colours are shown, else as it is.
std::string painted(Paint paint, std::string_view text);

}  // namespace tessera::app
