#pragma once

#include <tessera/base/error.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace tessera {

// manifest.json in a checkpoint's folder was written by a later tessera: refused, not repaired.
class NewerFormat : public Error {
 public:
  using Error::Error;
};

// What is in the folder of a checkpoint, so that damage can be noticed.
struct CheckpointManifest {
  struct File {
    uint64_t size = 0;
    std::string hash;  // file_hash()
    bool operator==(const File&) const = default;
  };

  static constexpr const char* kFileName = "manifest.json";

  int64_t step = 0;
  std::optional<double> score;
  std::map<std::string, File> files;  // by path in the folder, without manifest.json

  // Reads every file of a folder and of the folders within it.
  static CheckpointManifest of_folder(const std::filesystem::path& folder, int64_t step,
                                      std::optional<double> score);

  // Throws Error for a manifest that is missing or broken, NewerFormat for one of a later version.
  static CheckpointManifest read(const std::filesystem::path& folder);

  void write(const std::filesystem::path& folder) const;  // atomically

  uint64_t total_size() const;  // bytes of all files

  // What is wrong with the folder, if anything: "'x' is missing". Reads every byte. Throws
  // FileError if a file exists but cannot be read now.
  std::optional<std::string> damage(const std::filesystem::path& folder) const;
};

}  // namespace tessera
