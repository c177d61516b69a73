#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace tessera {

// The bytes of a file in order, decompressed where its name ends in .gz or .xz; "-" is standard
// input.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes; 0 at the end only. Throws Error where the file cannot be read or is
  // damaged.
  virtual size_t read(char* bytes, size_t size) = 0;

  static std::unique_ptr<ByteSource> open(const std::filesystem::path& path);
};

}  // namespace tessera
