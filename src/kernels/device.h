#pragma once

#include <cstddef>
#include <string>

namespace tessera::kernels::cuda {

// Whether this build's kernels run on CUDA device `index`: compute capability 9.0 or later.
bool has_code_for(int index);

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
