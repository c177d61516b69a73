#pragma once

#include "nn/parameters.h"

#include <string>

namespace tessera::nn {

enum class After { nothing, silu };

// Normalisation of pictures over groups of channels, together with the operations around it:
//   after((normalised(x + offset) * weight + bias) * (1 + scale) + shift)
class GroupNorm {
 public:
  GroupNorm() = default;
  GroupNorm(Parameters& parameters, const std::string& name, int64_t channels);

  //   x      [B, H, W, channels]
  //   film   [B, 2 * channels]: scale and shift of every channel, or undefined: none
  //   offset [channels], or undefined: none. The bias of the convolution that made x.
  at::Tensor operator()(const at::Tensor& x, After after, const at::Tensor& film = {},
                        const at::Tensor& offset = {}) const;

  // min(channels / 4, 32), at least 1
  static int64_t groups(int64_t channels);

 private:
  Weight scale_, shift_;  // [channels]
};

}  // namespace tessera::nn
