#include "image/grid.h"

#include "base/require.h"
#include "base/rounding.h"
#include "tensor/tensor_checks.h"

#include <ATen/ops/full.h>

#include <algorithm>

namespace tessera::image {

int64_t square_columns(int64_t images) {
  int64_t columns = 1;
  while (columns * columns < images) ++columns;
  return columns;
}

at::Tensor grid(const at::Tensor& images, int64_t columns, int64_t padding, int64_t scale) {
  constexpr int64_t kWhite = 255;
  require_defined(images, "images");
  require_same_dtype(images, at::kByte, "images");
  require(images.dim() == 4 && images.size(0) > 0, "images must be [N, C, H, W] with N > 0, got {}",
          shape_text(images.sizes()));
  require(columns > 0 && padding >= 0 && scale > 0,
          "a grid needs at least one column, a padding of 0 or more and a scale of 1 or more, got "
          "{}, {} and {}",
          columns, padding, scale);
  const int64_t count = images.size(0);
  columns = std::min(columns, count);
  const int64_t rows = ceil_div(count, columns);
  const int64_t height = images.size(2) * scale, width = images.size(3) * scale;
  const at::Tensor picture = at::full(
      {images.size(1), grid_side(rows, height, padding), grid_side(columns, width, padding)},
      kWhite, at::kByte);
  const at::Tensor large =
      images.to(at::kCPU).repeat_interleave(scale, 2).repeat_interleave(scale, 3);
  for (int64_t k = 0; k < count; ++k)
    picture.narrow(1, grid_side(k / columns, height, padding), height)
        .narrow(2, grid_side(k % columns, width, padding), width)
        .copy_(large.select(0, k));
  return picture;
}

}  // namespace tessera::image
