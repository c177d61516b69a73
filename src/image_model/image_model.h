#pragma once

#include "image_model/autoencoder.h"
#include "image_model/hollow_network.h"
#include "image_model/image_options.h"
#include "image_model/image_shape.h"
#include "nn/trainable.h"
#include "nn/unet.h"

#include <tessera/process/codebook.h>
#include <tessera/process/family.h>

#include <memory>
#include <variant>

namespace tessera {
class EmbeddingTable;
}

namespace tessera::image_model {

// Diffusion of images, of any family: every sub-pixel is a symbol of 256. Or every square of pixels
// is a code of an autoencoder, which turns codes into pixels at the end. All code between the
// codebook and the network is the family's.
//
// Symbols are [B, H, W, C] here, the points that stand for them [B, H, W, C, d]. The network reads
// these, without copying, as pictures of C * d channels. Its output has the same layout, with
// output_dim() numbers of the codebook for every symbol.
class ImageModel final : public nn::Trainable {
 public:
  //   classes  of the data; 0: none. The network is told them if the options say so.
  //   family   none: that of the options
  //   decoder  of the codes that are to be learnt; none: pixels are learnt
  // Throws UsageError for options that do not fit each other or the shape, and for codes of another
  // shape than the decoder's.
  ImageModel(const ImageModelOptions& options, const ImageShape& shape, int64_t classes,
             at::Device device, nn::Precision precision, const nn::Start& start,
             const FamilyMaker& family = {}, std::shared_ptr<const Autoencoder> decoder = nullptr);
  ~ImageModel() override;

  const ImageModelOptions& options() const { return options_; }
  const ImageShape& shape() const { return shape_; }             // of the symbols
  const ImageShape& picture_shape() const;                       // of the pictures they become
  const Autoencoder* decoder() const { return decoder_.get(); }  // nullptr: symbols are pixels
  int64_t classes() const { return classes_; }  // that the network is told; 0: none
  const Codebook& codebook() const { return *codebook_; }
  const Family& family() const { return *family_; }

  void refresh() override;

  // Inputs are symbols [B, H, W, C] uint8 or int16 and, if the network is told them, classes [B]
  // int64.
  Draws draw_for(const nn::Inputs& inputs, const TrainingStreams& streams) const override;
  // Variant 1: with self-conditioning, for some of the pictures of every batch.
  int64_t variants() const override { return 2; }
  int64_t variant(double chance) const override;
  nn::TrainingLoss loss_of(const nn::Inputs& inputs, const Draws& draws, int64_t variant,
                           nn::Mode mode) override;
  std::span<const std::string_view> measures() const override { return family_->measures(); }

  // Symbols [n, H, W, C] as pictures [n, C', H', W'] uint8 of picture_shape(), on the CPU. Masks
  // become grey; masks of codes become the picture of an average point.
  at::Tensor pictures_of(const at::Tensor& labels) const;

  // The network for a family.
  //   classes   [B] int64, or undefined: of no class
  //   guidance  scales the difference that the class makes to the estimate; 1: as trained
  Denoiser denoiser(const at::Tensor& classes, double guidance) const;

 private:
  at::Tensor estimate(const at::Tensor& x, const at::Tensor& time, const at::Tensor& previous,
                      const at::Tensor& classes, nn::Mode mode) const;
  at::Tensor no_classes(int64_t rows) const;  // [B]: of no class
  bool of_symbols() const { return diffuses_symbols(options_.coding.kind); }

  ImageModelOptions options_;
  ImageShape shape_;
  int64_t classes_;
  std::shared_ptr<const Autoencoder> decoder_;
  nn::Weight codes_;  // [K or, with a mask, K + 1, latent], or not defined
  std::unique_ptr<Codebook> codebook_;
  EmbeddingTable* trained_codes_ = nullptr;  // the codebook, if it is trained
  std::variant<nn::UNet, HollowNetwork> network_;
  std::unique_ptr<const Family> family_;
};

}  // namespace tessera::image_model
