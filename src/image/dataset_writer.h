#pragma once

#include "files/output_folder.h"
#include "image/image_source.h"
#include "image/manifest.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
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
  DatasetWriter(const std::filesystem::path& folder, std::vector<std::string> classes,
                Existing existing = Existing::refuse);

  // Images begin .. end - 1 of a source; all splits must have images of one size.
  //   labels  [images of the source] int64; undefined without classes
  void add_split(const std::string& name, const ImageSource& images, const at::Tensor& labels,
                 int64_t begin, int64_t end);

  // Makes the folder appear. `options` goes into the manifest.
  Manifest commit(std::map<std::string, std::string> options);

 private:
  OutputFolder folder_;
  Manifest manifest_;
};

}  // namespace tessera::image
