#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

// What a person or a folder gives as a file of ours must be one: a pipe or a device would make the
// program wait for ever, or never end.
namespace tessera {

// Opens a file for reading and returns its descriptor, to be closed by the caller. Never waits.
// Throws Error for what cannot be read or is no regular file; links are followed.
int open_regular_file(const std::filesystem::path& path);

// Throws Error for what is no regular file or has more than `most` bytes.
void require_regular_file(const std::filesystem::path& path, uint64_t most = UINT64_MAX);

constexpr uint64_t kMostTextBytes = uint64_t{1} << 30;      // of text that is read as a whole
constexpr uint64_t kMostSettingsBytes = uint64_t{1} << 26;  // of TOML or JSON

// The content of a regular file of at most so many bytes. Throws Error.
std::string read_file(const std::filesystem::path& path, uint64_t most);

}  // namespace tessera
