#pragma once

#include "image_model/image_shape.h"
#include "nn/transformer.h"

#include <optional>
#include <string>

namespace tessera::image_model {

struct HollowOptions {
  int64_t width = 256;
  int64_t layers = 6;       // of each of the two stacks
  int64_t head_width = 64;  // of attention
  double dropout = 0.0;
};

// A Transformer that estimates the symbol at every place of a grid without seeing the symbol that
// stands there. One stack reads the places in their order, one in the opposite order. The estimate
// for a place uses what the first has read before it and what the second has read after it.
class HollowNetwork {
 public:
  //   inputs   numbers that stand for a symbol
  //   outputs  numbers that it gives for each
  //   classes  0: no conditions
  HollowNetwork(nn::Parameters& parameters, const std::string& name, const HollowOptions& options,
                const ImageShape& shape, int64_t inputs, int64_t outputs, int64_t classes);

  //   x        [B, H, W, C * inputs]
  //   time     [B], as network_time() tells it
  //   classes  [B] int64, `classes` itself for none; undefined if there are no conditions
  //   returns  [B, H, W, C * outputs] float32
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& time, const at::Tensor& classes,
                        nn::Mode mode) const;

 private:
  at::Tensor positions() const;  // [places, width]
  // Symbols as a stack reads them: each one place later.   [B, places, width] -> the same
  at::Tensor shifted(const at::Tensor& symbols) const;

  ImageShape shape_;
  int64_t width_;
  nn::Linear enter_, time_in_, time_out_, leave_;
  nn::Weight classes_;                   // [classes + 1, width], or not defined
  nn::Weight begin_;                     // [1, width]: what is read before the first symbol
  nn::Weight rows_, columns_, colours_;  // [H, W or C, width]: position of a place
  std::optional<nn::Transformer> forward_, backward_, readout_;
};

}  // namespace tessera::image_model
