#pragma once

#include "image/image_source.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::image {

// What a reader of some format finds in a folder, before it becomes a Dataset.
struct ImageSet {
  struct Part {
    std::shared_ptr<const ImageSource> images;
    at::Tensor labels;  // [N] int64, each below the number of classes; undefined without classes
  };

  std::map<std::string, Part> parts;  // by name: "train", "valid", "test"
  std::vector<std::string> classes;   // names; empty: no labels
};

}  // namespace tessera::image
