#pragma once

#include "image_model/autoencoder.h"

#include <ATen/ATen.h>

#include <memory>

namespace tessera::test {

// An autoencoder of pictures of 8 x 8: 4 x 4 codes of 16. Its codes are points of some pictures.
inline std::unique_ptr<image_model::Autoencoder> tiny_autoencoder(int64_t channels = 1,
                                                                  int64_t codes = 16) {
  const image_model::AutoencoderOptions options{
      .width = 8, .halvings = 1, .blocks = 1, .quantiser = {.codes = codes, .width = 4}};
  auto model = std::make_unique<image_model::Autoencoder>(
      options, image_model::ImageShape{.channels = channels, .height = 8, .width = 8},
      /*variance=*/0.3, at::kCPU, nn::Precision::float32, /*seed=*/1);
  at::manual_seed(3);
  const nn::Inputs pictures{at::randint(0, 256, {16, 8, 8, channels}, at::kByte)};
  const Draws draws = model->draw_for(pictures, {{1, Purpose::test, 0}, {1, Purpose::test, 1}});
  model->loss_of(pictures, draws, /*variant=*/0, nn::Mode::training);
  return model;
}

}  // namespace tessera::test
