#pragma once

#include "files/output_folder.h"
#include "image/image_source.h"
#include "image/manifest.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::image {

// Writes a data set's folder, split by split and a few images at a time. The folder appears under
// its name once commit() has completed it; without commit() nothing is left behind.
class DatasetWriter {
 public:
  using Existing = OutputFolder::Existing;

  // The first checks of the constructor, to run before long work.
  static void check_folder(const std::filesystem::path& folder, Existing existing);

  //   classes  names, UTF-8; empty: no labels
  //   codes    of a set of codes; none: it holds images
  DatasetWriter(const std::filesystem::path& folder, std::vector<std::string> classes,
                Existing existing = Existing::refuse,
                std::optional<Manifest::Codes> codes = std::nullopt);

  // Images begin .. end - 1 of a source; all splits must have images of one size.
  //   labels  [images of the source] int64; undefined without classes
  void add_split(const std::string& name, const ImageSource& images, const at::Tensor& labels,
                 int64_t begin, int64_t end);

  // Codes of all images of a split, [N, 1, H, W] int16, and those of the images turned left to
  // right; labels [N] likewise.
  void add_codes(const std::string& name, const at::Tensor& codes, const at::Tensor& mirrored,
                 const at::Tensor& labels);

  // A file that belongs to the set, which `write` makes at a path.
  void add_file(const std::string& name,
                const std::function<void(const std::filesystem::path&)>& write);

  // Makes the folder appear. `options` goes into the manifest.
  Manifest commit(std::map<std::string, std::string> options);

 private:
  // The name and the size [C, H, W] of a split that is to come.
  void check_split(const std::string& name, const std::vector<int64_t>& size);
  void stamp(const std::string& file);  // into the manifest

  OutputFolder folder_;
  Manifest manifest_;
};

}  // namespace tessera::image
