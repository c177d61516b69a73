#pragma once

#include "files/files.h"

#include <ATen/ATen.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// Small files of images, written byte by byte.
namespace tessera::test {

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, bytes);
}

inline std::string big_endian(uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
          static_cast<char>(number >> 8), static_cast<char>(number)};
}

// [sizes...] uint8, different for every seed.
inline at::Tensor made_images(at::IntArrayRef sizes, int64_t seed = 0) {
  const int64_t count = c10::multiply_integers(sizes);
  return (at::arange(count, at::kLong) * 7 + seed * 31).remainder(251).to(at::kByte).reshape(sizes);
}

inline std::string bytes_of_images(const at::Tensor& images) {
  return {static_cast<const char*>(images.const_data_ptr()), images.nbytes()};
}

// A PNG of any kind, also of kinds that the reader refuses.
struct MadePng {
  uint32_t width = 1, height = 1;
  char bit_depth = 8;
  char colour_type = 0;  // 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
  bool interlaced = false;
  std::string rows = {};                        // each after a byte 0 (no filter)
  std::string palette = {}, transparency = {};  // contents of PLTE and tRNS; empty: no such chunk

  static std::string chunk(const std::string& name, const std::string& contents) {
    const std::string summed = name + contents;
    const auto sum = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size())));
    return big_endian(static_cast<uint32_t>(contents.size())) + summed + big_endian(sum);
  }

  std::string bytes() const {
    std::string packed(compressBound(rows.size()), '\0');
    uLongf size = packed.size();
    compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(rows.data()), rows.size());
    packed.resize(size);
    std::string file("\x89PNG\r\n\x1a\n", 8);
    file += chunk("IHDR", big_endian(width) + big_endian(height) + bit_depth + colour_type +
                              std::string(2, '\0') + (interlaced ? '\1' : '\0'));
    if (!palette.empty()) file += chunk("PLTE", palette);
    if (!transparency.empty()) file += chunk("tRNS", transparency);
    return file + chunk("IDAT", packed) + chunk("IEND", "");
  }
};

// CIFAR-10's files with `records` records each; image k of a file has the label k % 10. Returns the
// training images.
inline at::Tensor write_cifar10(const std::filesystem::path& folder, int64_t records) {
  std::vector<at::Tensor> all;
  for (int64_t file = 1; file <= 6; ++file) {
    const at::Tensor images = made_images({records, 3, 32, 32}, file);
    std::string bytes;
    for (int64_t k = 0; k < records; ++k)
      bytes += static_cast<char>(k % 10) + bytes_of_images(images[k].contiguous());
    const std::string name =
        file == 6 ? "test_batch.bin" : "data_batch_" + std::to_string(file) + ".bin";
    write_bytes(folder / name, bytes);
    if (file < 6) all.push_back(images);
  }
  return at::cat(all);
}

//   images  [N, H, W]
inline std::string idx_images(const at::Tensor& images) {
  std::string bytes = big_endian(0x0803);
  for (const int64_t side : images.sizes()) bytes += big_endian(static_cast<uint32_t>(side));
  return bytes + bytes_of_images(images);
}

inline std::string idx_labels(const std::string& labels) {
  return big_endian(0x0801) + big_endian(static_cast<uint32_t>(labels.size())) + labels;
}

// Four images of 3 x 2 to train on, two to test with, three classes. Returns the training images,
// [4, 2, 3].
inline at::Tensor write_idx(const std::filesystem::path& folder) {
  const at::Tensor images = made_images({4, 2, 3});
  write_bytes(folder / "train-images-idx3-ubyte", idx_images(images));
  write_bytes(folder / "train-labels-idx1-ubyte", idx_labels(std::string("\1\0\2\1", 4)));
  write_bytes(folder / "t10k-images-idx3-ubyte", idx_images(made_images({2, 2, 3}, 1)));
  write_bytes(folder / "t10k-labels-idx1-ubyte", idx_labels(std::string("\2\0", 2)));
  return images;
}

// The bytes, compressed with gzip.
inline std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace tessera::test
