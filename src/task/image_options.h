#pragma once

#include "config/config.h"
#include "image_model/autoencoder_options.h"
#include "image_model/image_options.h"

#include <filesystem>

namespace tessera::task {

// What a run learns from images.
enum class ImageKind {
  diffusion,    // to make new ones
  autoencoder,  // codes that stand for them
};

// The score that selects the best checkpoint of a diffusion model.
enum class ImageScore {
  distance,  // negative Fréchet distance of generated images from training images
  loss,      // negative validation loss
};

// The score that selects the best checkpoint of an autoencoder.
enum class ReconstructionScore {
  psnr,  // of held-out images
  loss,  // negative validation loss
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

// A run that learns from images.
struct ImageOptions {
  ImageKind kind = ImageKind::diffusion;
  ImageData data = {};
  ImageValidation validation = {};
  // Of diffusion:
  image_model::ImageModelOptions model = {};
  image_model::SamplingOptions sampling = {};
  // Of an autoencoder:
  image_model::AutoencoderOptions autoencoder = {};
  ReconstructionScore reconstruction = ReconstructionScore::psnr;  // in place of validation.score
};

void declare_data(config::Schema& schema, ImageData& data);
void declare_validation(config::Schema& schema, ImageValidation& options);
void declare_autoencoder_validation(config::Schema& schema, ImageOptions& options);

}  // namespace tessera::task

template <>
struct tessera::EnumNames<tessera::task::ImageScore> {
  using Score = tessera::task::ImageScore;
  static constexpr std::string_view what = "score";
  static constexpr std::array<std::pair<Score, std::string_view>, 2> values{
      {{Score::distance, "distance"}, {Score::loss, "loss"}}};
};

template <>
struct tessera::EnumNames<tessera::task::ImageKind> {
  using Kind = tessera::task::ImageKind;
  static constexpr std::string_view what = "kind of image model";
  static constexpr std::array<std::pair<Kind, std::string_view>, 2> values{
      {{Kind::diffusion, "diffusion"}, {Kind::autoencoder, "autoencoder"}}};
};
template <>
struct tessera::EnumNames<tessera::task::ReconstructionScore> {
  using Score = tessera::task::ReconstructionScore;
  static constexpr std::string_view what = "score";
  static constexpr std::array<std::pair<Score, std::string_view>, 2> values{
      {{Score::psnr, "psnr"}, {Score::loss, "loss"}}};
};
