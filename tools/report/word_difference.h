#pragma once

#include <string>
#include <string_view>

namespace tessera::report {

// A text as HTML in which the words that `other` does not have, in the same order, stand in <mark>.
// Texts without blanks are compared by letters, and place by place where they are of equal length.
// Of texts of very many words nothing is marked.
std::string with_marks(std::string_view text, std::string_view other);

}  // namespace tessera::report
