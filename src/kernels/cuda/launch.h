#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

// Host-side helpers of the .cu files.
namespace tessera::kernels::cuda {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

// A kernel has one limit per device, shared by all threads of the process. It is only ever raised:
// lowering it could break a launch that another thread is about to make.
template <class... Parameters>
void allow_shared(const char* name, void (*kernel)(Parameters...), std::size_t bytes) {
  if (bytes <= 48 * 1024) return;  // what a block gets anyway
  static std::mutex mutex;
  static std::map<std::pair<int, void (*)(Parameters...)>, std::size_t> limits;  // by device
  int device = 0;
  check(cudaGetDevice(&device), name);
  const std::lock_guard<std::mutex> lock(mutex);
  std::size_t& limit = limits[{device, kernel}];
  if (limit >= bytes) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        name);
  limit = bytes;
}

template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), int64_t blocks, int threads,
            std::size_t shared_bytes, void* stream, const Arguments&... arguments) {
  allow_shared(name, kernel, shared_bytes);
  kernel<<<static_cast<unsigned>(blocks), threads, shared_bytes,
           static_cast<cudaStream_t>(stream)>>>(arguments...);
  check(cudaGetLastError(), name);
}

// `teams` clusters of `size` blocks. The blocks of a cluster can read each other's shared memory.
template <class... Parameters, class... Arguments>
void launch_teams(const char* name, void (*kernel)(Parameters...), int64_t teams, int size,
                  int threads, std::size_t shared_bytes, void* stream,
                  const Arguments&... arguments) {
  allow_shared(name, kernel, shared_bytes);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(teams * size);
  config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &cluster;
  config.numAttrs = size > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

inline void fill_bytes(const char* name, void* memory, int byte, std::size_t bytes, void* stream) {
  check(cudaMemsetAsync(memory, byte, bytes, static_cast<cudaStream_t>(stream)), name);
}

inline int multiprocessors() {
  int device = 0;
  int count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  return count;
}

constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Fit for 16-byte accesses.
inline bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

// Number of blocks for a kernel whose threads step over the items by the size of the grid.
inline int64_t stride_grid(int64_t items, int64_t items_per_block) {
  return std::min<int64_t>(ceil_div(items, items_per_block), int64_t{1} << 20);
}

}  // namespace tessera::kernels::cuda
