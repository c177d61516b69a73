#pragma once

#include <cstdint>

namespace tessera::image_model {

constexpr int64_t kValues = 256;  // of a sub-pixel: one colour of one pixel

// What a model makes: a grid of symbols. Of pixels, a symbol is the value of a sub-pixel; of the
// codes of an autoencoder, the grid has one channel.
struct ImageShape {
  int64_t channels = 3, height = 32, width = 32;
  int64_t symbols = kValues;  // K
  bool operator==(const ImageShape&) const = default;
};

// Throws UsageError for sizes that no image has.
void check_size(const ImageShape& shape);

}  // namespace tessera::image_model
