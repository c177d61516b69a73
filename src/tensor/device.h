#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace tessera {

// "auto" (CUDA where there is one), "cpu", "cuda" or "cuda:N". Throws UsageError for anything else,
// Error for a device that is not there.
at::Device parse_device(const std::string& text);

// Calls work(stream), a cudaStream_t, with the device made current. What a kernel throws becomes an
// Error.
void on_cuda(at::Device device, const std::function<void(void* stream)>& work);

// Waits for the device; nothing on the CPU.
void synchronize(at::Device device);

// Number of CUDA devices; 0 where this build has no kernels for them.
int cuda_device_count();

}  // namespace tessera
