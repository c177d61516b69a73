#pragma once

#include "image/manifest.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::image {

// Images of one part of a data set.
class Split {
 public:
  Split(at::Tensor images, at::Tensor labels);

  int64_t size() const { return images_.size(0); }
  const at::Tensor& images() const { return images_; }  // [N, C, H, W] uint8, a mapped file
  const at::Tensor& labels() const { return labels_; }  // [N] int64, undefined without classes

 private:
  at::Tensor images_, labels_;
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
  const Split& split(const std::string& name) const;  // Error, which lists the existing ones

  const std::string& fingerprint() const { return fingerprint_; }  // hash of the contents

 private:
  std::filesystem::path folder_;
  Manifest manifest_;
  std::map<std::string, Split> splits_;
  std::string fingerprint_;
};

}  // namespace tessera::image
