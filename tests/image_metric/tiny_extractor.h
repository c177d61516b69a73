#pragma once

#include <filesystem>
#include <string>

namespace tessera::test {

// Writes a TorchScript file with the methods in `source`, as Python would.
void write_torch_script(const std::filesystem::path& path, const std::string& source);

// An extractor of means, maxima and minima of the colours: [N, C, H, W] to [N, 3 C], in 0 to 255.
// Its logits are the means.
void write_tiny_extractor(const std::filesystem::path& path);

}  // namespace tessera::test
