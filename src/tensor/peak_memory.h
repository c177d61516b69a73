#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera {

// The most memory in use at once since construction, in bytes. CUDA: what LibTorch's allocator has
// handed out, above what was in use at construction; resets the allocator's own peak statistics.
// CPU: memory of the whole process, since its start.
class PeakMemory {
 public:
  explicit PeakMemory(at::Device device);
  int64_t bytes() const;

 private:
  at::Device device_;
  int64_t start_ = 0;
};

}  // namespace tessera
