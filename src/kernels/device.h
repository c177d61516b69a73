#pragma once

#include <cstddef>
#include <string>

namespace tessera::kernels::cuda {

// Whether this build computes on CUDA device `index`: compute capability 8.0 or later.
bool has_code_for(int index);

// Whether the kernels written for Hopper run there: compute capability 9.0 or later. These are
// exit_ratio(), argmax_score() and group_norm(); older devices compute the same with LibTorch's
// operations.
bool has_hopper_code_for(int index);

// Makes has_hopper_code_for() false for every device, so that a Hopper takes the path of older
// ones.
void set_hopper_kernels(bool in_use);

// Whether this build has CUDA kernels at all.
bool built_in();

// What a CUDA device is.
struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::size_t total_bytes = 0, free_bytes = 0;
};

// Throws std::runtime_error where the device cannot be asked.
DeviceFacts facts_of(int index);

// Why the CUDA runtime finds no device, in its words; empty where it finds one.
std::string why_no_device();

}  // namespace tessera::kernels::cuda
