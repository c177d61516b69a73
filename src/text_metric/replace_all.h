#pragma once

#include <string>
#include <string_view>

namespace tessera::text_metric {

// Replaces every occurrence; replaced text is not searched again.
inline void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace tessera::text_metric
