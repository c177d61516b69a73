#pragma once

#include <cstddef>
#include <cstdint>

// Plain pointers only: nvcc reads this header too, and it sees no LibTorch header.
namespace tessera::kernels {

// The exit ratio of n paths over a table of k codes (scores f(x, j) = x . E_j), streamed over the
// table: nothing of size n x k is ever stored. With I = labels[i],
//
//   a_J = f(x0, I) - f(x0, J),  b_J = f(eps, J) - f(eps, I)
//   tiny_a = 1e-6 |x0| max_j |E_j|,  tiny_b = 1e-6 |eps| max_j |E_j|
//
// ratio[i] is the largest, over all J != I, of
//
//   +inf       where |a_J| <= tiny_a and b_J > tiny_b: a tie that noise breaks at once
//   nothing    where |a_J| <= tiny_a and b_J <= tiny_b: a duplicate code
//   b_J / a_J  otherwise
//
// and -inf if no J is left. outside[i] says that some a_J < -tiny_a; ratio[i] is then +inf.
// A label outside [0, k) has no cell: ratio +inf, outside false.
struct ExitRatio {
  const float* x0;     // [n, d], row-major like everything here
  const float* eps;    // [n, d]
  const float* codes;  // [k, d]
  int64_t n, k, d;     // n, k >= 0; d >= 1
  bool decode;  // true: labels are an output, the lowest argmax_j f(x0, j), from the same scores as
                // a_J
  int64_t* labels;  // [n]
  float* ratio;     // [n]
  bool* outside;    // [n]
};

// Lowest argmax_j f(x, j).
struct ArgmaxScore {
  const float* x;      // [n, d]
  const float* codes;  // [k, d]
  int64_t n, k, d;     // k >= 1
  int64_t* labels;     // [n]
};

// Bytes a kernel may use besides its inputs and outputs, whatever n, k and d are.
inline constexpr std::size_t kScratchLimit = std::size_t{16} << 20;

namespace cpu {
void exit_ratio(const ExitRatio& problem);
void argmax_score(const ArgmaxScore& problem);
}  // namespace cpu

namespace cuda {
// `scratch` is device memory of scratch_bytes(n, k, d) <= kScratchLimit bytes, 256-byte aligned;
// `stream` is a cudaStream_t. Asynchronous, deterministic, capturable into a CUDA graph. Throws
// std::runtime_error if a launch fails.
std::size_t scratch_bytes(int64_t n, int64_t k, int64_t d);
void exit_ratio(const ExitRatio& problem, void* scratch, void* stream);
void argmax_score(const ArgmaxScore& problem, void* scratch, void* stream);
}  // namespace cuda

}  // namespace tessera::kernels
