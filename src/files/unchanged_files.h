#pragma once

#include <filesystem>

namespace tessera {

// Checks that the files of a checkpoint which say how to read its weights (config.json, the
// tokenizer's) are as they were written, by the hashes in its manifest.json. The weights themselves
// are not looked at: they are large, and what loads them checks their names and shapes. A model
// folder without manifest.json has nothing to compare with. Throws Error that names the file.
void require_unchanged_files(const std::filesystem::path& folder);

}  // namespace tessera
