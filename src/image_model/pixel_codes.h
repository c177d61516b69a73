#pragma once

#include "image_model/image_options.h"

#include <tessera/process/codebook.h>

#include <memory>

namespace tessera::image_model {

constexpr int64_t kValues = 256;  // of a sub-pixel
constexpr int64_t kBits = 8;      // that tell them apart

// Numbers that stand for one sub-pixel: d.
int64_t code_width(const CodingOptions& options);

// The bits of all values.   [256, 8]
at::Tensor bits_of_values(const CodingOptions& options, at::Device device);

// The codebook of the values of sub-pixels.
//   trained  [256, latent] float32 for Coding::trainable, else not used
std::unique_ptr<Codebook> pixel_codes(const CodingOptions& options, const at::Tensor& trained,
                                      at::Device device);

}  // namespace tessera::image_model
