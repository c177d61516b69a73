#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace tessera {

// "auto" (CUDA where there is one), "cpu", "cuda" or "cuda:N". Throws UsageError for anything else,
// Error for a device that is not there.
at::Device parse_device(const std::string& text);

// The current stream of a CUDA device, as a cudaStream_t.
void* current_stream(at::Device device);

// Waits for the device; nothing on the CPU.
void synchronize(at::Device device);

// Number of CUDA devices this build can use.
int cuda_device_count();

}  // namespace tessera
