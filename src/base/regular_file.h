#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

// Files that we read must be regular files: with a pipe or a device the program could wait for ever
// or read without end.
namespace tessera {

// Opens a file for reading and returns its descriptor, to be closed by the caller. Never waits.
// Throws Error if it cannot be read or is not a regular file; links are followed.
int open_regular_file(const std::filesystem::path& path);

// Throws Error if it is not a regular file or has more than `most` bytes.
void require_regular_file(const std::filesystem::path& path, uint64_t most = UINT64_MAX);

constexpr uint64_t kMostTextBytes = uint64_t{1} << 30;      // of text that is read as a whole
constexpr uint64_t kMostSettingsBytes = uint64_t{1} << 26;  // of TOML or JSON

// The content of a regular file of at most `most` bytes. Throws Error.
std::string read_file(const std::filesystem::path& path, uint64_t most);

}  // namespace tessera
