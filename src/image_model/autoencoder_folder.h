#pragma once

#include "files/model_files.h"
#include "image_model/autoencoder.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace tessera::image_model {

constexpr std::string_view kAutoencoderKind = "autoencoder";  // as config.json names it

// Writes a model folder (files/model_files.h), which is made if need be.
//   weights  a buffer like model.parameters().values(): these, or their moving average
void write_autoencoder_folder(const std::filesystem::path& folder, const Autoencoder& model,
                              const at::Tensor& weights, const ModelCard& card);

// In float32, in which it is always used. Throws Error for a folder that is missing, broken, of a
// newer format or of another kind.
std::unique_ptr<Autoencoder> load_autoencoder_folder(const std::filesystem::path& folder,
                                                     at::Device device);

// An autoencoder as one file: what data sets of its codes, and models over them, carry with them.
constexpr const char* kAutoencoderFile = "autoencoder.safetensors";

void save_autoencoder(const std::filesystem::path& path, const Autoencoder& model);
std::unique_ptr<Autoencoder> load_autoencoder(const std::filesystem::path& path, at::Device device);

}  // namespace tessera::image_model
