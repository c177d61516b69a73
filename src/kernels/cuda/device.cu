#include <cuda_runtime.h>

#include <atomic>
#include <stdexcept>

#include "kernels/device.h"

namespace tessera::kernels::cuda {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Called before every kernel. The runtime keeps the attributes, so this takes nanoseconds.
bool is_at_least(int major, int index) {
  int found = 0;
  return cudaDeviceGetAttribute(&found, cudaDevAttrComputeCapabilityMajor, index) == cudaSuccess &&
         found >= major;
}

std::atomic<bool> hopper_kernels{true};

}  // namespace

bool has_code_for(int index) {
  return is_at_least(8, index);
}

bool has_hopper_code_for(int index) {
  return hopper_kernels && is_at_least(9, index);
}

void set_hopper_kernels(bool in_use) {
  hopper_kernels = in_use;
}

bool built_in() {
  return true;
}

DeviceFacts facts_of(int index) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, index));
  DeviceFacts facts;
  facts.name = properties.name;
  facts.major = properties.major;
  facts.minor = properties.minor;
  int current = 0;
  check(cudaGetDevice(&current));
  check(cudaSetDevice(index));
  const cudaError_t asked = cudaMemGetInfo(&facts.free_bytes, &facts.total_bytes);
  check(cudaSetDevice(current));
  check(asked);
  return facts;
}

std::string why_no_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count > 0 ? "" : "there is none";
}

}  // namespace tessera::kernels::cuda
