#pragma once

#include <filesystem>
#include <vector>

// Models that came with the program: each is a folder in PREFIX/share/tessera/models, or in models/
// of the sources if the program is in its build folder.
namespace tessera::app {

constexpr const char* kShippedTranslator = "tatoeba-de-en";
constexpr const char* kShippedImageModel = "fashion";

// All of them, by name; none if there are none.
std::vector<std::filesystem::path> shipped_models();

// The one that a command uses if no model is named; the log says so. Throws UsageError, which says
// what to do, if the program came without it.
//   does  what it does, for the log: "translates"
std::filesystem::path shipped_model(const char* name, const char* does);

}  // namespace tessera::app
