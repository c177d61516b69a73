#pragma once

#include <cstddef>
#include <string>

namespace tessera::kernels::cuda {

// Whether this build can use CUDA device `index`: compute capability 8.0 or later.
bool has_code_for(int index);

// Whether the kernels written for Hopper run on it: compute capability 9.0 or later. These are
// exit_ratio(), argmax_score() and group_norm(). Older devices compute the same with LibTorch's
// operations.
bool has_hopper_code_for(int index);

// With false, has_hopper_code_for() is false for every device, so that a Hopper device takes the
// path of older ones.
void set_hopper_kernels(bool in_use);

// Whether this build has CUDA kernels at all.
bool built_in();

// What a CUDA device is.
struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::size_t total_bytes = 0, free_bytes = 0;
};

// Throws std::runtime_error if the runtime cannot read the device's properties.
DeviceFacts facts_of(int index);

// Why the CUDA runtime finds no device, in its words; empty if it finds one.
std::string why_no_device();

}  // namespace tessera::kernels::cuda
