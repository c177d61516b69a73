#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace tessera::image {

// Images of one size that are read a few at a time, so that they need not fit into memory. May be
// read from several threads.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  ImageSource(const ImageSource&) = delete;
  ImageSource& operator=(const ImageSource&) = delete;

  // Finds out what `path` is:
  //   a folder that `tessera prepare --images` made: the images of a split
  //   a folder of PNGs, with classes and splits as in read_png_folder()
  //   NAME.npy, or NAME.npz with one such array: [N, H, W, C] or [N, C, H, W] uint8, channels last
  //     if the last dimension is 1 or 3
  //   split  of a folder with splits; empty: train. Error if one is named and there are none.
  // Throws Error for what it cannot read, and if there are no images.
  static std::shared_ptr<const ImageSource> open(const std::filesystem::path& path,
                                                 const std::string& split = "");

  int64_t size() const { return size_; }  // images, at least one
  int64_t channels() const { return channels_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Images begin .. end - 1: [end - begin, C, H, W] uint8 on the CPU, contiguous. Read-only: it may
  // be a view of a mapped file.
  at::Tensor read(int64_t begin, int64_t end) const;

 protected:
  ImageSource(int64_t size, int64_t channels, int64_t height, int64_t width);

 private:
  virtual at::Tensor read_range(int64_t begin, int64_t end) const = 0;

  int64_t size_, channels_, height_, width_;
};

// Images that are already in memory, or mapped.
class TensorImages : public ImageSource {
 public:
  explicit TensorImages(at::Tensor images);  // [N, C, H, W] uint8 on the CPU, any strides

 private:
  at::Tensor read_range(int64_t begin, int64_t end) const override;

  at::Tensor images_;
};

}  // namespace tessera::image
