#pragma once

#include <filesystem>
#include <vector>

namespace tessera {

// Writes a model folder whose weights are the mean of those in some model folders of any kind,
// computed in float64 and stored in float32. The rest comes from the first one.
//   out  must not exist; appears once it is complete
// Throws Error if a folder is broken, or differs from the first one in its kind, its options
// (except those of generation), its dictionary, symbols or classes, or its state beside the
// weights.
void average_models(const std::vector<std::filesystem::path>& folders,
                    const std::filesystem::path& out);

}  // namespace tessera
