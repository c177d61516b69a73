#pragma once

#include "image/dataset.h"

#include <ATen/core/Tensor.h>

#include <filesystem>

namespace tessera::evaluation {

struct EncodingOptions {
  std::filesystem::path autoencoder;  // a run (its best checkpoint, else the last) or a model
  std::filesystem::path from;         // folder that `tessera prepare --images` wrote
  std::filesystem::path out;          // the new set's folder
  bool replace = false;               // if `out` is already a data set of images
};

// Makes a data set of the codes that an autoencoder gives to images, and to the same images turned
// left to right. It has the splits, labels and classes of the images, and the autoencoder.
image::Manifest encode_images(const EncodingOptions& options, at::Device device);

// The images of a data set, or those that its codes were made from. Throws Error if these were
// moved or changed.
image::Dataset images_behind(const std::filesystem::path& folder);

}  // namespace tessera::evaluation
