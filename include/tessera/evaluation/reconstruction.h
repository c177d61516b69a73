#pragma once

#include <cstdint>
#include <optional>

namespace tessera {

// How images come back from the codes of an autoencoder.
struct Reconstruction {
  int64_t images = 0;      // measured
  double error = 0;        // mean squared difference of values, 0 to 255
  double psnr = 0;         // 10 log10(255^2 / error), dB
  int64_t codes = 0;       // that there are
  int64_t codes_used = 0;  // of these, by one of the images at least
  double perplexity = 0;   // how many codes would be as varied if all were used alike
  // Fréchet, from the features of the training images: no model of the codes can be expected to
  // come nearer to them. Nothing if it was not measured.
  std::optional<double> distance = {};

  double share_used() const { return static_cast<double>(codes_used) / static_cast<double>(codes); }
};

}  // namespace tessera
