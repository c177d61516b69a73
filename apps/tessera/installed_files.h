#pragma once

#include <filesystem>

namespace tessera::app {

// A recipe or a table of results that is to be read. A name that leads to no file is looked for
// among those that were installed with the program: "recipes/tiny.toml", "tiny.toml" and "tiny" all
// lead to share/tessera/recipes/tiny.toml beside the program's folder. The log says if it is one of
// these. Where there is none, the name as it is.
std::filesystem::path find_recipe(const std::filesystem::path& name);

}  // namespace tessera::app
