#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::image {

// Images of one size, read piece by piece. (For now: an .npy file of uint8 numbers [N, H, W, C] or
// [N, C, H, W].)
class ImageSource {
 public:
  explicit ImageSource(const std::filesystem::path& path, const std::string& split = "train");

  int64_t size() const { return size_; }
  int64_t channels() const { return channels_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  at::Tensor read(int64_t begin, int64_t count) const;  // [count, C, H, W] uint8

 private:
  at::Tensor images_;
  int64_t size_ = 0, channels_ = 0, height_ = 0, width_ = 0;
};

}  // namespace tessera::image
