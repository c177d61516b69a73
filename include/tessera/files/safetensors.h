#pragma once

#include <tessera/base/api.h>

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::safetensors {

using Tensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;

// A safetensors file, memory-mapped. Opening it checks every bound of the header: a file that opens
// can be read.
class TESSERA_API File {
 public:
  explicit File(
      const std::filesystem::path& path);  // throws Error: what is wrong with the file, and where

  std::vector<std::string> names() const;  // sorted
  bool contains(const std::string& name) const;
  const Metadata& metadata() const;

  // A CPU tensor that views the mapped file (no copy) and keeps it mapped. Its pages are private:
  // writing to the tensor does not change the file. For an unknown name, throws Error with the
  // nearest one.
  at::Tensor tensor(const std::string& name) const;
  Tensors tensors() const;

 private:
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

// Writes a file that Python's `safetensors` reads, atomically. Equal tensors and metadata give
// equal bytes. Tensors on other devices are copied to the CPU, those that are not contiguous are
// made so.
TESSERA_API void save(const std::filesystem::path& path, const Tensors& tensors,
                      const Metadata& metadata = {});

}  // namespace tessera::safetensors
