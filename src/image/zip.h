#pragma once

#include "files/files.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// Zip archives like those of .npz files: nothing is compressed. Any size (zip64).
namespace tessera::image {

// A file within an archive.
struct ZipEntry {
  std::string name;
  uint64_t begin = 0;      // of its bytes, from the beginning of the archive
  uint64_t size = 0;       // as stored in the archive
  bool stored = true;      // not compressed
  uint32_t check_sum = 0;  // CRC-32 of the file, as the directory says
};

// The entries of a whole archive, in the order of its directory; all lie within the archive. Throws
// Error, which does not name the file, if it is not an archive or is damaged.
std::vector<ZipEntry> zip_entries(std::string_view archive);

// The bytes of a stored file. Reads them all: throws Error, which does not name the archive, if the
// checksum does not match.
std::string_view stored_bytes(std::string_view archive, const ZipEntry& entry);

// Writes an archive front to back; it appears under its name once commit() has completed it. Equal
// contents give equal bytes: all files have the date 1980-01-01.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path);

  void begin(const std::string& name);  // ends the previous file
  void write(std::string_view bytes);   // of the file begun last
  void commit();

 private:
  struct Entry {
    std::string name;
    uint64_t offset, size;
    uint32_t check_sum;
  };

  void put(std::string_view bytes);
  void end();

  AtomicFile file_;
  uint64_t position_ = 0;
  std::vector<Entry> entries_;
  bool open_ = false;  // the last entry may grow
};

}  // namespace tessera::image
