#pragma once

#include "files/files.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// NumPy's .npy files: a header that says type and shape, then the elements.
namespace tessera::image {

struct NpyHeader {
  std::string type;  // as NumPy writes it: "|u1" for uint8
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_start = 0;  // bytes from the beginning
};

// Parses the bytes of a whole file. Throws Error, which does not name the file, if they are not a
// .npy or if their number does not fit shape and type. (The number is not checked for types of
// other than 1, 2, 4 or 8 bytes per element.)
NpyHeader parse_npy(std::string_view bytes);

// The bytes of one .npy, made from batches along the first dimension.
class NpyEncoder {
 public:
  //   type   uint8, int64, float32 or float64
  //   shape  of the whole, at least one dimension
  NpyEncoder(at::ScalarType type, std::vector<int64_t> shape);

  std::string header() const;

  //   batch    [n, ...], the rest as the shape; any device and strides
  //   returns  the same on the CPU, contiguous: its bytes follow
  at::Tensor next(const at::Tensor& batch);

  void check_complete() const;  // Error if batches are missing

 private:
  at::ScalarType type_;
  std::vector<int64_t> shape_;
  int64_t rows_ = 0;  // so far
};

std::string_view bytes_of(const at::Tensor& contiguous);

// Writes a .npy batch by batch; it appears under its name once commit() has completed it.
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, at::ScalarType type, std::vector<int64_t> shape);

  void append(const at::Tensor& batch);
  void commit();

 private:
  NpyEncoder encoder_;
  AtomicFile file_;
};

}  // namespace tessera::image
