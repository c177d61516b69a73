#pragma once

#include "nn/convolution.h"
#include "nn/group_norm.h"
#include "nn/layers.h"

#include <string>

namespace tessera::nn {

// Two convolutions of a picture and a way around them. It begins by doing nearly nothing but to
// scale what goes around.
struct ResidualBlock {
  ResidualBlock() = default;
  //   told  numbers that it is told between the convolutions, as of a time; 0: none
  ResidualBlock(Parameters& parameters, const std::string& name, int64_t inputs, int64_t outputs,
                int64_t told = 0);

  //   x     [B, H, W, inputs] -> [B, H, W, outputs]
  //   told  [B, told], undefined where it is told nothing
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& told, double dropout,
                        Mode mode) const;

  GroupNorm first_norm, second_norm;
  Convolution first, second, shortcut;  // the last where the number of channels changes
  Linear film;                          // where it is told something
};

}  // namespace tessera::nn
