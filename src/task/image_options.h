#pragma once

#include "files/config.h"
#include "image_model/image_options.h"

#include <filesystem>

namespace tessera::task {

// The score that selects the best checkpoint.
enum class ImageScore {
  distance,  // negative Fréchet distance of generated images from training images
  loss,      // negative validation loss
};

struct ImageData {
  std::filesystem::path dir = {};
  int64_t batch = 128;  // images
  bool flip = true;     // mirror half of them, left to right
};

// How a run of images is measured while it trains.
struct ImageValidation {
  int64_t images = 2000;                  // held-out images whose loss is measured, at most
  int64_t shown = 16;                     // images made for people, from the same noise every time
  int64_t samples = 0;                    // images made for a Fréchet distance; 0: none
  std::filesystem::path features = {};    // TorchScript file of the extractor
  std::filesystem::path statistics = {};  // of the training images; empty: computed from them
  ImageScore score = ImageScore::loss;
};

// A run that learns to make images.
struct ImageOptions {
  ImageData data = {};
  image_model::ImageModelOptions model = {};
  image_model::SamplingOptions sampling = {};
  ImageValidation validation = {};
};

void declare_data(config::Schema& schema, ImageData& data);
void declare_validation(config::Schema& schema, ImageValidation& options);

}  // namespace tessera::task

template <>
struct tessera::EnumNames<tessera::task::ImageScore> {
  using Score = tessera::task::ImageScore;
  static constexpr std::string_view what = "score";
  static constexpr std::array<std::pair<Score, std::string_view>, 2> values{
      {{Score::distance, "distance"}, {Score::loss, "loss"}}};
};
