#pragma once

#include "files/data_manifest.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::image {

// What a data set's folder holds, as its manifest.json says.
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

  // Hash of what the set is: sizes, classes, the contents of all splits. Not of the options, nor of
  // the program that made it.
  std::string fingerprint() const;

  // Whether there is such a manifest in a folder, of whatever version. Throws nothing.
  static bool is_in(const std::filesystem::path& folder);

  // The damage or lack of a manifest is an Error that says what to do.
  static Manifest load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const;  // atomically
  std::string json() const;                              // what save() writes

  // Throws Error for a class whose name is not UTF-8: the file could not hold it.
  void check_classes() const;

  // Throws Error for files of `folder` that are missing or whose size (or, slower, content) is not
  // what the manifest says.
  void check_files(const std::filesystem::path& folder, bool contents) const;
};

// The file of a split: safetensors with "images" [N, C, H, W] uint8, and "labels" [N] int64 where
// there are classes. Of codes: "codes" and "mirrored" (of the same images, turned left to right)
// [N, C, H, W] int16 in place of "images".
std::string split_file(const std::string& split);

}  // namespace tessera::image
