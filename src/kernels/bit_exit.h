#pragma once

#include <cstdint>

namespace tessera::kernels {

// The exit ratio of n paths from orthants of `width` coordinates (codes of +-s, all patterns
// valid). With sign_i = +1 where bit i of the pattern is set, else -1:
//   a_i = sign_i * x0_i,  b_i = -sign_i * eps_i
//   ratio = max over i of  b_i / a_i;  cases |a_i| <= tiny_a and a_i < -tiny_a as in exit_ratio.h,
//   tiny_a = 0.5e-6 |x0| sqrt(width),  tiny_b = 0.5e-6 |eps| sqrt(width)
// A pattern of -1 has no cell: ratio +inf, outside false.
struct BitExit {
  const float* x0;   // [n, width]
  const float* eps;  // [n, width]
  int64_t n;
  int width;          // 1 to 16
  bool decode;        // true: patterns are an output, bit i set where x0_i > 0
  int64_t* patterns;  // [n]
  float* ratio;       // [n]
  bool* outside;      // [n]
};

namespace cpu {
void bit_exit(const BitExit& problem);
}
namespace cuda {
void bit_exit(const BitExit& problem, void* stream);
}

}  // namespace tessera::kernels
