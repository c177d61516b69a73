#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tessera {

// Fingerprint of some bytes: 32 hexadecimal digits (XXH3, 128 bits). It finds damage, not malice.
std::string content_hash(std::string_view bytes);
std::string file_hash(const std::filesystem::path& path);

}  // namespace tessera
