#pragma once

#include <string_view>

namespace tessera {

// Whether a name is that of a single file or folder: not empty, no path, not "." or "..", not
// longer than file systems allow. To be checked wherever a name from outside (a manifest, an
// option) becomes part of a path.
bool is_plain_file_name(std::string_view name);

// Throws Error, which says what the name was for: "the name of the split".
void require_file_name(std::string_view name, std::string_view what);

}  // namespace tessera
