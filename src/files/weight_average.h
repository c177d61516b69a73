#pragma once

#include <filesystem>
#include <vector>

namespace tessera {

// Writes a model folder whose weights are the mean of those in some model folders, of whatever
// kind, computed in float64 and stored in float32. The rest is that of the first one.
//   out  must not exist; appears when it is complete
// Throws Error where a folder is broken, or differs from the first one in its kind, its options
// (those of generation excepted) or what else makes a model: dictionary, symbols, classes.
void average_models(const std::vector<std::filesystem::path>& folders,
                    const std::filesystem::path& out);

}  // namespace tessera
