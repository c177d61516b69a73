#pragma once

#include "image/manifest.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::image {

// Images of one part of a data set, or the codes that stand for them.
class Split {
 public:
  Split(at::Tensor images, at::Tensor labels, at::Tensor mirrored = {});

  int64_t size() const { return images_.size(0); }
  // [N, C, H, W], a mapped file: uint8, of codes int16
  const at::Tensor& images() const { return images_; }
  // Codes of the images turned left to right, likewise; undefined if images are pixels.
  const at::Tensor& mirrored() const { return mirrored_; }
  const at::Tensor& labels() const { return labels_; }  // [N] int64, undefined without classes

 private:
  at::Tensor images_, labels_, mirrored_;
};

// A folder that `tessera prepare --images` wrote, mapped into memory: manifest.json and one
// safetensors file for each split.
class Dataset {
 public:
  // Throws Error for a folder that is not a data set, is incomplete, damaged, or of a newer format.
  // Sizes, shapes and labels are always checked; the hashes of the images, which must be read for
  // that, on demand.
  explicit Dataset(const std::filesystem::path& folder, bool verify_contents = false);

  const std::filesystem::path& folder() const { return folder_; }
  const Manifest& manifest() const { return manifest_; }
  int64_t channels() const { return manifest_.channels; }
  int64_t height() const { return manifest_.height; }
  int64_t width() const { return manifest_.width; }
  const std::vector<std::string>& classes() const { return manifest_.classes; }  // empty: no labels

  bool has_split(const std::string& name) const { return splits_.contains(name); }
  const Split& split(const std::string& name) const;  // Error that lists the ones there are
  // What is not trained on: the split "valid", or else "test". Error if there is neither.
  const Split& held_out() const;

  bool holds_codes() const { return manifest_.codes.has_value(); }
  // Throws Error if it holds codes in place of pixels.
  //   purpose  what the pixels are for, for the message
  void require_pixels(const std::string& purpose) const;

  const std::string& fingerprint() const { return fingerprint_; }  // hash of the contents

 private:
  std::filesystem::path folder_;
  Manifest manifest_;
  std::map<std::string, Split> splits_;
  std::string fingerprint_;
};

}  // namespace tessera::image
