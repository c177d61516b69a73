#pragma once

#include "nn/convolution.h"
#include "nn/group_norm.h"
#include "nn/layers.h"

#include <string>

namespace tessera::nn {

// Two convolutions of a picture and a shortcut around them. With its first weights it does little
// more than scale the shortcut.
struct ResidualBlock {
  ResidualBlock() = default;
  //   told  numbers of the condition (a time, say) that enters between the convolutions; 0: none
  ResidualBlock(Parameters& parameters, const std::string& name, int64_t inputs, int64_t outputs,
                int64_t told = 0);

  //   x     [B, H, W, inputs] -> [B, H, W, outputs]
  //   told  [B, told], undefined without a condition
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& told, double dropout,
                        Mode mode) const;

  GroupNorm first_norm, second_norm;
  Convolution first, second, shortcut;  // shortcut: if the number of channels changes
  Linear film;                          // if it is told something
};

}  // namespace tessera::nn
