#pragma once

#include <string_view>

namespace tessera {

// Whether a name is that of one file or folder, whatever folder it is put into: not empty, no path,
// not "." or "..", not longer than file systems take. To be asked wherever a name from outside (a
// manifest, an option) becomes part of a path.
bool is_plain_file_name(std::string_view name);

// Throws Error that says what the name was for: "the name of the split".
void require_file_name(std::string_view name, std::string_view what);

}  // namespace tessera
