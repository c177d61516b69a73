#pragma once

#include <string>
#include <string_view>

namespace tessera {

// Text for a terminal, whatever it holds: control characters (those that move the cursor, change
// colours or the direction of writing) and bytes that are no UTF-8 are shown as what they are,
// "\x1b" or "\u202e". Tabs and line ends stay.
std::string visible(std::string_view text);

}  // namespace tessera
