#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera::image {

// Columns of a grid that has about as many rows.
int64_t square_columns(int64_t images);

// Length in pixels of a side of a grid with so many images next to each other.
constexpr int64_t grid_side(int64_t images, int64_t side, int64_t padding) {
  return images * (side + padding) + padding;
}

// Many images as one picture, row by row on white.
//   images   [N, C, H, W] uint8, N at least 1
//   columns  images side by side
//   padding  white pixels between the images and around them
//   scale    every pixel of an image becomes a square with this side
//   returns  [C, height, width] uint8 on the CPU
at::Tensor grid(const at::Tensor& images, int64_t columns, int64_t padding = 2, int64_t scale = 1);

}  // namespace tessera::image
