#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::app {

struct BoundaryBenchOptions {
  std::vector<std::string> shapes{"8000,10000,128", "16000,40000,128"};  // "N,K,d"
  int repeats = 7;
  uint64_t seed = 1;
  at::Device device = at::kCPU;
  bool json = false;
};

// Times the stopping time's kernels against a naive version that stores every score, in one run,
// and prints time, memory, error and the share of the machine's own GEMM rate that is reached.
void bench_boundary(const BoundaryBenchOptions& options);

}  // namespace tessera::app
