#pragma once

#include "command.h"
#include "image_settings.h"

#include <cstdint>
#include <filesystem>

namespace tessera::app {

// How generated images are measured.
struct ImageMeasuring {
  int64_t count = 10000;
  std::filesystem::path data, features, statistics, nearest, npz;
  std::filesystem::path reconstructions;  // of an autoencoder
  bool kernel = false;
};

void add_image_measuring(CLI::App& command, ImageMeasuring& measuring);

// The data set to compare with: as named, or that of the run.
std::filesystem::path images_folder(const ModelSettings& model, const ImageMeasuring& measuring);

// `tessera evaluate` of a model of images.
void evaluate_images(const ModelSettings& model, const ImageSettings& settings,
                     const ImageMeasuring& measuring, const GlobalOptions& globals);

}  // namespace tessera::app
