#pragma once

#include <string>
#include <string_view>

namespace tessera::report {

// A text as HTML, with <mark> around the words that `other` does not have in the same order. Texts
// without blanks are compared by letters, and place by place if they have equal length. In texts of
// very many words nothing is marked.
std::string with_marks(std::string_view text, std::string_view other);

}  // namespace tessera::report
