#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// The name in `known` that `name` was probably meant to be, for "did you mean": the one with the
// fewest edits (insert, delete, replace a character, swap two neighbours; case does not count).
// Empty if even that one needs edits in more than a third of its characters. Ties go to the first.
std::string nearest_name(std::string_view name, const std::vector<std::string_view>& known);

// " (did you mean 'nearest'?)", or nothing when no name is near: the end of an error message.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace tessera
