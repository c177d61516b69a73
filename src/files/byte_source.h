#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace tessera {

// The bytes of a file in order, decompressed if its name ends in .gz or .xz; "-" is standard input.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes; 0 only at the end. Throws Error if the file cannot be read or is damaged.
  virtual size_t read(char* bytes, size_t size) = 0;

  static std::unique_ptr<ByteSource> open(const std::filesystem::path& path);
};

}  // namespace tessera
