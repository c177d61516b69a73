#pragma once

#include "image_model/image_folder.h"

#include <ATen/ATen.h>

#include <filesystem>

namespace tessera::test {

// A model folder with random weights: pictures of 8 x 8, RGB, of the classes cat and dog.
//   conditional  whether the network is told the class
//   sampling     how it is sampled where a request does not say
inline void write_tiny_image_model(const std::filesystem::path& folder, bool conditional = true,
                                   const image_model::SamplingOptions& sampling = {}) {
  image_model::ImageModelOptions options;
  options.network = {.width = 8, .stages = 2, .blocks = 1, .attention_side = 4, .head_width = 8};
  options.conditional = conditional;
  const image_model::ImageModel model(options, {.channels = 3, .height = 8, .width = 8},
                                      /*classes=*/2, at::kCPU, nn::Precision::float32, /*seed=*/1);
  // Layers that start as zero would make all classes alike.
  at::manual_seed(2);
  const at::Tensor& values = model.parameters().values();
  image_model::write_image_folder(folder, model, values + at::randn_like(values) * 0.1,
                                  {"cat", "dog"}, sampling, {});
}

}  // namespace tessera::test
