#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <optional>

namespace tessera::nn {

// While one lives, dropout in this thread is a function of the seed, and LibTorch's default
// generators are as they were once it is gone.
// On the CPU, dropout draws from a generator of its own. On CUDA, LibTorch's dropout and recorded
// graphs draw from the default generator alone: its seed is set, and afterwards put back. Whoever
// draws from it in another thread meanwhile mixes the two.
class SeededDropout {
 public:
  SeededDropout(c10::Device device, uint64_t seed);
  ~SeededDropout();
  SeededDropout(const SeededDropout&) = delete;
  SeededDropout& operator=(const SeededDropout&) = delete;

  // To draw from on a device, in this thread; none: LibTorch's default generator.
  static std::optional<at::Generator> generator(c10::Device device);

 private:
  std::optional<at::Generator> former_;  // of this thread, on the CPU
  at::Generator changed_;                // CUDA's default generator, where it is used
  uint64_t seed_ = 0, offset_ = 0;       // that it had
};

}  // namespace tessera::nn
