#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

// Pictures as PNG: 8 bits a channel, grey or RGB. As a tensor: [C, H, W] uint8, C 1 (grey) or 3.
// The values are those of the file; colour profiles and gamma are ignored.
namespace tessera::image {

constexpr int64_t kLongestSide = 1 << 15;  // of a picture, in pixels

// A picture in memory, row by row: [height, width, channels].
struct Pixels {
  std::span<const uint8_t> values;
  int64_t height = 0, width = 0, channels = 0;
};

// Throws Error, which names the file, if it is not a PNG, is damaged, or is 16-bit, paletted or
// transparent. Grey of 1, 2 or 4 bits is widened to 0 .. 255.
at::Tensor read_png(const std::filesystem::path& path);
at::Tensor decode_png(std::string_view bytes, const std::string& name);  // name: for messages

void write_png(const std::filesystem::path& path, const at::Tensor& picture);  // atomically
std::string encode_png(const at::Tensor& picture);  // the bytes of the file
std::string encode_png(const Pixels& pixels);
std::string png_data_uri(const at::Tensor& picture);  // "data:image/png;base64,...", for HTML
std::string png_data_uri(const Pixels& pixels);

}  // namespace tessera::image
