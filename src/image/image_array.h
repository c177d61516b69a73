#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>

namespace tessera::image {

// Images of a .npy file, or of the one array of images in an .npz file: uint8, [N, H, W, C] if the
// last dimension is 1 or 3, otherwise [N, C, H, W]. Returns [N, C, H, W], a view of the mapped
// file. Throws Error, which names the file.
at::Tensor map_image_array(const std::filesystem::path& path);

}  // namespace tessera::image
