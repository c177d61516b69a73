#pragma once

#include "image_model/autoencoder_options.h"
#include "image_model/image_shape.h"
#include "image_model/quantiser.h"
#include "nn/residual_block.h"
#include "nn/trainable.h"

#include <string>
#include <vector>

namespace tessera::image_model {

// A VQ autoencoder: pictures become a smaller grid of codes, which become pictures again, nearly
// the same. A network makes a point of every square of pixels, the nearest code stands for it, and
// a second network makes pixels of codes. Networks learn by gradients. The gradient of a code is
// passed on to its point unchanged; codes themselves learn by moving averages (quantiser.h).
//
// Pictures are [B, H, W, C] uint8 here, codes [B, h, w, 1] int64.
class Autoencoder final : public nn::Trainable {
 public:
  //   shape     of the pictures
  //   variance  of the values of the data on [-1, 1]: the unit of the squared error
  // Throws UsageError for pictures that cannot be halved so often.
  Autoencoder(const AutoencoderOptions& options, const ImageShape& shape, double variance,
              at::Device device, nn::Precision precision, const nn::Start& start);

  const AutoencoderOptions& options() const { return options_; }
  const ImageShape& shape() const { return shape_; }
  ImageShape grid() const;  // of the codes

  // Without gradients.
  at::Tensor encode(const at::Tensor& pictures) const;
  // Labels that are not codes (masks) stand for the mean of all points.
  at::Tensor decode(const at::Tensor& labels) const;

  void refresh() override { parameters_.publish(); }
  Draws draw_for(const nn::Inputs& inputs, const TrainingStreams& streams) const override;
  // Inputs are pictures. In training, this also updates the codes.
  nn::TrainingLoss loss_of(const nn::Inputs& inputs, const Draws& draws, int64_t variant,
                           nn::Mode mode) override;
  // error       mean squared error of values on [-1, 1]
  // commitment  mean squared distance of points from their codes, of each number
  // used        share of the codes that a batch uses
  // perplexity  of the codes of a batch: how many would be as varied if all were used alike
  std::span<const std::string_view> measures() const override;
  safetensors::Tensors state() const override { return quantiser_.state(); }
  void restore(const safetensors::File& file, const std::string& prefix) override {
    quantiser_.restore(file, prefix);
  }

 private:
  struct Stage {
    std::vector<nn::ResidualBlock> blocks;
    nn::Convolution resize;  // to the next stage
  };
  std::vector<Stage> make_stages(const std::string& name, int64_t stride);

  at::Tensor points_of(const at::Tensor& values) const;  // [B, H, W, C] -> [B, h, w, d]
  at::Tensor values_of(const at::Tensor& points) const;  // the way back, float32

  AutoencoderOptions options_;
  ImageShape shape_;
  double variance_;
  nn::Convolution enter_, to_points_, from_points_, leave_;
  nn::GroupNorm points_norm_, leave_norm_;
  std::vector<Stage> in_, out_;
  Quantiser quantiser_;
};

// Perplexity of how often codes are used.   counts [K] -> [] float32
at::Tensor usage_perplexity(const at::Tensor& counts);

}  // namespace tessera::image_model
