#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tessera::serve {

// A character reference of HTML, such as "&auml;", "&#228;" or "&#xE4;".
struct HtmlReference {
  size_t size = 0;         // bytes, with '&' and ';'
  char32_t character = 0;  // 0: a name that is not known here
};

// The reference at the beginning of a text that begins with '&'; none: the '&' stands for itself.
// Known are the names of HTML 4 and "apos". As in HTML, the ';' may lack after a number and after
// the oldest names ("&copy 2026"). Numbers that are no character become U+FFFD.
std::optional<HtmlReference> html_reference(std::string_view text);

}  // namespace tessera::serve
