#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace tessera {

// "auto" (CUDA if available), "cpu", "cuda" or "cuda:N". Throws UsageError for anything else, Error
// for a device that does not exist.
at::Device parse_device(const std::string& text);

// Calls work(stream), a cudaStream_t, with the device made current. An exception from a kernel
// becomes an Error.
void on_cuda(at::Device device, const std::function<void(void* stream)>& work);

// Waits for the device; nothing on the CPU.
void synchronize(at::Device device);

// Number of CUDA devices; 0 if this build has no kernels for them.
int cuda_device_count();

}  // namespace tessera
