#pragma once

#include "files/data_manifest.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::image {

// What a data set's folder holds, as described by its manifest.json.
struct Manifest : DataManifest {
  static constexpr int64_t kFormatVersion = 1;  // a newer one is refused

  int64_t channels = 0, height = 0, width = 0;
  std::vector<std::string> classes;       // names; empty: no labels
  std::map<std::string, int64_t> splits;  // by name: how many images

  // Hash of the data: sizes, classes, the contents of all splits. It does not depend on the options
  // or the program that made the set.
  std::string fingerprint() const;

  // Whether there is such a manifest in a folder, of any version. Throws nothing.
  static bool is_in(const std::filesystem::path& folder);

  // Throws Error, which says what to do, if the manifest is damaged or missing.
  static Manifest load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const;  // atomically
  std::string json() const;                              // what save() writes

  // Throws Error for a class whose name is not UTF-8: the file could not hold it.
  void check_classes() const;

  // Throws Error for files of `folder` that are missing or whose size (or, slower, content) is not
  // what the manifest says.
  void check_files(const std::filesystem::path& folder, bool contents) const;
};

// The file of a split: safetensors with "images" [N, C, H, W] uint8, and "labels" [N] int64 if
// there are classes.
std::string split_file(const std::string& split);

}  // namespace tessera::image
