#pragma once

#include "tensor/peak_memory.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace tessera::app {

// Counts the bytes that LibTorch's allocator hands out on a device, from construction on: what a
// function needs besides its inputs. One at a time.
class MemoryMeter {
 public:
  explicit MemoryMeter(at::Device device);
  ~MemoryMeter();
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  int64_t peak()
      const;  // largest number of bytes in use at once, above those in use at construction

 private:
  at::Device device_;
  std::optional<PeakMemory> device_peak_;  // not on the CPU
};

}  // namespace tessera::app
