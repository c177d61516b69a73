#pragma once

#include <string>
#include <string_view>

namespace tessera::text_metric {

// Undoes the tokenisation of Moses' scripts as far as possible: replaces marks like &quot; and @-@,
// and joins punctuation to its word. The rules for quotes and apostrophes are those of English.
// UTF-8; does not change the case of letters.
std::string join_moses(std::string_view line);

}  // namespace tessera::text_metric
