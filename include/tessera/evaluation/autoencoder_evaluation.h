#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/images.h>
#include <tessera/engine/load_options.h>
#include <tessera/evaluation/reconstruction.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace tessera {

// How an autoencoder is measured.
struct AutoencoderEvaluationOptions {
  int64_t count = 10000;  // training images, at equal intervals; all if there are fewer
  // For the Fréchet distance, as those of ImageEvaluationOptions; no features: no distance.
  std::filesystem::path features = {};
  std::filesystem::path statistics = {};
  int64_t shown = 0;      // of the first held-out images to keep, beside what came back
  LoadOptions load = {};  // its precision is not used: an autoencoder is always used in float32
};

struct AutoencoderEvaluation {
  Reconstruction training;    // of training images: the floor of a model of their codes
  Reconstruction held_out;    // of all images to validate with, or to test; without a distance
  std::string distance_name;  // "FD-...", empty without features
  std::string extractor, extractor_hash;  // likewise
  Images pairs;                           // an image, what came back of it, the next image, ...
};

// Takes images through an autoencoder and back.
//   autoencoder  a run or a model folder
//   data         a folder that `tessera prepare --images` wrote
TESSERA_API AutoencoderEvaluation
evaluate_autoencoder(const std::filesystem::path& autoencoder, const std::filesystem::path& data,
                     const AutoencoderEvaluationOptions& options = {});

}  // namespace tessera
