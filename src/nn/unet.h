#pragma once

#include "nn/attention.h"
#include "nn/convolution.h"
#include "nn/group_norm.h"
#include "nn/layers.h"
#include "nn/residual_block.h"

#include <string>
#include <vector>

namespace tessera::nn {

struct UNetOptions {
  int64_t width = 256;  // channels, in all stages
  int64_t stages = 3;   // each but the first at half the side of the one before
  int64_t blocks = 3;   // residual blocks of a stage on the way down; one more on the way up
  int64_t attention_side = 16;  // stages whose pictures are at most this high have attention
  int64_t head_width = 64;      // of attention
  double dropout = 0.0;         // in the blocks
};

// The network of Bit Diffusion: maps pictures to pictures of the same size with other channels. It
// goes down through the stages and up again. Every block on the way up also gets the result from
// the same place on the way down.
class UNet {
 public:
  UNet() = default;
  //   inputs   channels of the input
  //   outputs  channels of the output
  //   side     height of the pictures: says which stages have attention
  //   classes  0: no conditions
  UNet(Parameters& parameters, const std::string& name, const UNetOptions& options, int64_t inputs,
       int64_t outputs, int64_t side, int64_t classes);

  //   x        [B, H, W, inputs]; H and W divisible by 2^(stages - 1)
  //   time     [B], as network_time() returns it
  //   classes  [B] int64, `classes` for no condition; undefined if the model has no conditions
  //   returns  [B, H, W, outputs] float32
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& time, const at::Tensor& classes,
                        Mode mode) const;

  // Throws UsageError if pictures of that size do not fit the stages.
  static void check_size(const UNetOptions& options, int64_t height, int64_t width);

 private:
  struct Attention {
    GroupNorm norm;
    SelfAttention attention;
    bool present = false;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Stage {
    std::vector<ResidualBlock> blocks;  // told the time
    std::vector<Attention> attentions;  // one after every block
    Convolution resize;                 // to the next stage
  };
  Stage make_stage(Parameters& parameters, const std::string& name, int64_t blocks, int64_t inputs,
                   bool attends, bool resizes, int64_t stride) const;

  UNetOptions options_;
  Linear time_in_, time_out_;
  Weight classes_;  // [classes + 1, 4 * width], or not defined
  Convolution enter_, leave_;
  GroupNorm enter_norm_, leave_norm_;
  std::vector<Stage> down_, up_;
};

}  // namespace tessera::nn
