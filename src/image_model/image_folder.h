#pragma once

#include "files/model_files.h"
#include "image_model/image_model.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tessera::image_model {

constexpr std::string_view kImageKind = "image";  // as config.json names it

// A model of images, ready to use.
struct LoadedImageModel {
  std::unique_ptr<ImageModel> model;
  std::vector<std::string> classes;  // names; empty if the data had none
  SamplingOptions sampling;          // as stored
};

// Writes a model folder (files/model_files.h), which is made if need be. A model of codes takes
// their autoencoder with it.
//   weights  a buffer like model.parameters().values(): the weights, or their moving average
//   classes  names of the classes of the data; empty: none
void write_image_folder(const std::filesystem::path& folder, const ImageModel& model,
                        const at::Tensor& weights, const std::vector<std::string>& classes,
                        const SamplingOptions& sampling, const ModelCard& card);

// Throws Error for a folder that is missing, broken, of a newer format or of another kind.
LoadedImageModel load_image_folder(const std::filesystem::path& folder, at::Device device,
                                   nn::Precision precision);

}  // namespace tessera::image_model
