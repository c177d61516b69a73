#pragma once

#include <string>
#include <string_view>

namespace tessera::text_metric {

// What stands in the place of others is not looked through again.
inline void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace tessera::text_metric
