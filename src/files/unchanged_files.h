#pragma once

#include <filesystem>

namespace tessera {

// Checks by the hashes in manifest.json that the files of a checkpoint which say how to read its
// weights (config.json, the tokenizer's) are unchanged. The weights themselves are not checked:
// they are large, and their names and shapes are checked when they are loaded. A model folder
// without manifest.json has nothing to compare with. Throws Error, which names the file.
void require_unchanged_files(const std::filesystem::path& folder);

}  // namespace tessera
