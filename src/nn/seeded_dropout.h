#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <optional>

namespace tessera::nn {

// While an object lives, dropout in this thread is a function of the seed. Afterwards LibTorch's
// default generators are as they were before.
// On the CPU, dropout draws from a generator of its own. On CUDA, LibTorch's dropout and recorded
// graphs can only draw from the default generator: its seed is set, and restored afterwards. If
// another thread draws from it meanwhile, the two get mixed.
class SeededDropout {
 public:
  SeededDropout(c10::Device device, uint64_t seed);
  ~SeededDropout();
  SeededDropout(const SeededDropout&) = delete;
  SeededDropout& operator=(const SeededDropout&) = delete;

  // The generator to draw from on a device, in this thread; none: LibTorch's default generator.
  static std::optional<at::Generator> generator(c10::Device device);

 private:
  std::optional<at::Generator> former_;  // of this thread, on the CPU
  at::Generator changed_;                // CUDA's default generator, if it is used
  uint64_t seed_ = 0, offset_ = 0;       // of changed_ before
};

}  // namespace tessera::nn
