#pragma once

#include "image_model/image_options.h"
#include "image_model/image_shape.h"

#include <tessera/process/codebook.h>

#include <memory>

namespace tessera::image_model {

// Numbers that stand for one symbol of a grid: of its code, and of what the network estimates for
// it.
struct CodeWidths {
  int64_t input = 0, output = 0;
};
//   symbols  K: 256 values of sub-pixels, or the codes of an autoencoder
CodeWidths code_widths(const CodingOptions& options, int64_t symbols, bool mask = false);

// The number of bits that tell so many symbols apart. Throws UsageError if `symbols` is not a power
// of two.
int64_t bits_for(int64_t symbols);

// The bits of all symbols.   [K, bits_for(K)]
at::Tensor bits_of_symbols(const CodingOptions& options, int64_t symbols, at::Device device);

// The codebook of the symbols of a grid.
//   trained  [K, latent] float32 for Coding::trainable; for Coding::symbols the same, with one
//            more row if there is a mask; else not used
//   mask     for values and symbols: whether there is a symbol K that covers others
std::unique_ptr<Codebook> pixel_codes(const CodingOptions& options, int64_t symbols,
                                      const at::Tensor& trained, at::Device device,
                                      bool mask = false);

}  // namespace tessera::image_model
