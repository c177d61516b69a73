#pragma once

#include "image_model/image_options.h"
#include "nn/trainable.h"
#include "nn/unet.h"

#include <tessera/process/codebook.h>
#include <tessera/process/family.h>

#include <memory>

namespace tessera {
class EmbeddingTable;
}

namespace tessera::image_model {

struct ImageShape {
  int64_t channels = 3, height = 32, width = 32;
  bool operator==(const ImageShape&) const = default;
};

// Diffusion of images, of any family: every sub-pixel is a symbol of 256. All code between the
// codebook and the U-Net is the family's.
//
// Pictures are [B, H, W, C] here, the codes of their sub-pixels [B, H, W, C, d]. The network reads
// these, without copying, as pictures of C * d channels. Its output has the same layout, with
// output_dim() numbers of the codebook for every sub-pixel.
class ImageModel final : public nn::Trainable {
 public:
  //   classes  of the data; 0: none. The network is told them if the options say so.
  //   family   none: that of the options
  // Throws UsageError for options that do not fit each other or the shape.
  ImageModel(const ImageModelOptions& options, const ImageShape& shape, int64_t classes,
             at::Device device, nn::Precision precision, const nn::Start& start,
             const FamilyMaker& family = {});
  ~ImageModel() override;

  const ImageModelOptions& options() const { return options_; }
  const ImageShape& shape() const { return shape_; }
  int64_t classes() const { return classes_; }  // that the network is told; 0: none
  const Codebook& codebook() const { return *codebook_; }
  const Family& family() const { return *family_; }

  void refresh() override;

  // Inputs are pictures [B, H, W, C] uint8 and, if the network is told them, classes [B] int64.
  Draws draw_for(const nn::Inputs& inputs, const TrainingStreams& streams) const override;
  // Variant 1: with self-conditioning, for some of the pictures of every batch.
  int64_t variants() const override { return 2; }
  int64_t variant(double chance) const override;
  nn::TrainingLoss loss_of(const nn::Inputs& inputs, const Draws& draws, int64_t variant,
                           nn::Mode mode) override;
  std::span<const std::string_view> measures() const override { return family_->measures(); }

  // The network for a family.
  //   classes   [B] int64, or undefined: of no class
  //   guidance  scales the difference that the class makes to the estimate; 1: as trained
  Denoiser denoiser(const at::Tensor& classes, double guidance) const;

 private:
  at::Tensor estimate(const at::Tensor& x, const at::Tensor& time, const at::Tensor& previous,
                      const at::Tensor& classes, nn::Mode mode) const;
  at::Tensor no_classes(int64_t rows) const;  // [B]: of no class
  bool of_values() const { return options_.coding.kind == Coding::values; }

  ImageModelOptions options_;
  ImageShape shape_;
  int64_t classes_;
  nn::Weight codes_;  // [256, latent], or not defined
  std::unique_ptr<Codebook> codebook_;
  EmbeddingTable* trained_codes_ = nullptr;  // the codebook, if it is trained
  nn::UNet network_;
  std::unique_ptr<const Family> family_;
};

}  // namespace tessera::image_model
