#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::app {

struct BenchOptions {
  std::vector<std::string> shapes{"8000,10000,128", "16000,40000,128"};  // "N,K,d"
  int repeats = 7;
  uint64_t seed = 1;
  at::Device device = at::kCPU;
  bool json = false;
};

// Elements, codes and dimensions of a problem.
struct BenchShape {
  int64_t n, k, d;
};

// Throws UsageError.
std::vector<BenchShape> parse_shapes(const std::vector<std::string>& texts);

// [k, d] of length sqrt(d), in random directions.
at::Tensor random_codes(const BenchShape& shape, const BenchOptions& options);

constexpr double kMiB = 1024.0 * 1024.0;

struct Measured {
  double seconds;    // median
  int64_t peak;      // bytes besides inputs and outputs
  at::Tensor value;  // what was computed
};

// Runs the versions in turn, so that a change in the machine's speed affects all of them.
std::vector<Measured> measure(const std::vector<std::function<at::Tensor()>>& versions,
                              at::Device device, int repeats);

// Rate of a large square product, the limit of this machine: operations per second.
double gemm_rate(at::Device device, at::ScalarType dtype, int repeats);

}  // namespace tessera::app
