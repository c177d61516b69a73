#pragma once

#include "image/npy.h"
#include "image/zip.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::image {

// Writes an .npz that numpy.load() reads, uncompressed: named arrays, one after the other, each
// whole or in batches, so that it need not fit into memory.
//   NpzWriter writer(path);
//   writer.begin("images", at::kByte, {50000, 32, 32, 3});
//   writer.append(batch) ...
//   writer.add("labels", labels);
//   writer.commit();
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path);

  // Arguments as for NpyEncoder. The previous array must be complete.
  void begin(const std::string& name, at::ScalarType type, std::vector<int64_t> shape);
  void append(const at::Tensor& batch);  // [n, ...]
  void add(const std::string& name, const at::Tensor& array);

  void commit();  // makes the file appear; without it there is none

 private:
  void end();

  ZipWriter archive_;
  std::optional<NpyEncoder> encoder_;  // of the array begun last
};

}  // namespace tessera::image
