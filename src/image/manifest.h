#pragma once

#include "files/data_manifest.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::image {

// What a data set's folder holds, as described by its manifest.json.
struct Manifest : DataManifest {
  // A newer one is refused. Sets of pixels are written as version 1, those of codes as 2.
  static constexpr int64_t kFormatVersion = 2;

  // Of a set that holds codes of an autoencoder in place of images.
  struct Codes {
    int64_t symbols = 0;  // K
    std::string images;   // fingerprint of the set of images they stand for
    bool operator==(const Codes&) const = default;
  };

  int64_t channels = 0, height = 0, width = 0;  // of images, or of grids of codes
  std::optional<Codes> codes;
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
// there are classes. A set of codes has "codes" and "mirrored" (of the same images, mirrored left
// to right) [N, C, H, W] int16 in place of "images".
std::string split_file(const std::string& split);

}  // namespace tessera::image
