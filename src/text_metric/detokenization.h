#pragma once

#include <string>
#include <string_view>

namespace tessera::text_metric {

// Text that Moses' scripts have tokenised, as it was before, as far as that can be told: marks like
// &quot; and @-@ put back, punctuation joined to its word. The rules for quotes and apostrophes are
// those of English. UTF-8; small letters stay small.
std::string join_moses(std::string_view line);

}  // namespace tessera::text_metric
