#pragma once

#include "image_model/image_options.h"

#include <tessera/process/codebook.h>

#include <memory>

namespace tessera::image_model {

constexpr int64_t kValues = 256;  // of a sub-pixel
constexpr int64_t kBits = 8;      // of such a value

// How many numbers a sub-pixel has: in its code, and in what the network estimates for it.
struct CodeWidths {
  int64_t input = 0, output = 0;
};
CodeWidths code_widths(const CodingOptions& options, bool mask = false);

// The bits of all values.   [256, 8]
at::Tensor bits_of_values(const CodingOptions& options, at::Device device);

// The codebook of the values of sub-pixels.
//   trained  [256, latent] float32 for Coding::trainable, else not used
//   mask     for Coding::values: whether there is a symbol 256 that covers values
std::unique_ptr<Codebook> pixel_codes(const CodingOptions& options, const at::Tensor& trained,
                                      at::Device device, bool mask = false);

}  // namespace tessera::image_model
