#pragma once

#include <string>
#include <string_view>

namespace tessera {

// Makes any text safe for a terminal: control characters (which move the cursor, change colours or
// the direction of writing) and bytes that are not UTF-8 are escaped, as "\x1b" or "\u202e". Tabs
// and line ends stay.
std::string visible(std::string_view text);

}  // namespace tessera
