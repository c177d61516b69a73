#pragma once

#include "text/line_reader.h"

#include <cstddef>
#include <filesystem>
#include <memory>

namespace tessera::text {

// The bytes of a file in order, decompressed where its name ends in .gz or .xz.
class LineReader::Source {
 public:
  virtual ~Source() = default;

  // Up to `size` bytes; 0 at the end only. Throws Error where the file cannot be read or is
  // damaged.
  virtual size_t read(char* bytes, size_t size) = 0;

  static std::unique_ptr<Source> open(const std::filesystem::path& path);
};

}  // namespace tessera::text
