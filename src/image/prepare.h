#pragma once

#include "image/manifest.h"

#include <tessera/base/enum_names.h>

#include <cstdint>
#include <filesystem>

namespace tessera::image {

// The layout of a folder of images.
enum class Format {
  cifar10,  // image/cifar10.h
  idx,      // image/idx.h
  png,      // image/png_folder.h
};

struct PrepareOptions {
  Format format = Format::png;
  std::filesystem::path from;  // the images
  std::filesystem::path out;   // the data set's folder
  int64_t valid = 0;           // how many of the last training images become the split "valid"
  bool replace = false;        // if `out` is already a data set of images
};

// Makes a data set's folder. Images of CIFAR-10 and PNGs are read a few at a time, those of idx
// files are held in memory.
Manifest prepare(const PrepareOptions& options);

}  // namespace tessera::image

template <>
struct tessera::EnumNames<tessera::image::Format> {
  using Format = tessera::image::Format;
  static constexpr std::string_view what = "format of images";
  static constexpr std::array<std::pair<Format, std::string_view>, 3> values{{
      {Format::cifar10, "cifar10"},
      {Format::idx, "idx"},
      {Format::png, "png"},
  }};
};
