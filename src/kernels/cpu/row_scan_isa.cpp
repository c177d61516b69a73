// Compiled once per instruction set, as TESSERA_ISA says; src/CMakeLists.txt gives the flags. The
// loops are plain C++ that the compiler vectorises.

#include "kernels/cpu/row_scan.h"

#include <cmath>
#include <limits>

#define TESSERA_NAME_2(prefix, isa) prefix##isa
#define TESSERA_NAME(prefix, isa) TESSERA_NAME_2(prefix, isa)
#define TESSERA_TEXT_2(isa) #isa
#define TESSERA_TEXT(isa) TESSERA_TEXT_2(isa)

namespace tessera::kernels::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

ScanResult scan_exit(const OwnScore& own, const float* scores, const float* noise_scores,
                     int64_t count) {
  const OwnScore me = own;
  float ratio = -kInfinity, smallest = kInfinity;
#pragma omp simd reduction(max : ratio) reduction(min : smallest)
  for (int64_t j = 0; j < count; ++j) {
    const float a = me.score - scores[j];
    const float b = noise_scores[j] - me.noise_score;
    const float candidate = a > me.guard ? b / a : -kInfinity;
    ratio = candidate > ratio ? candidate : ratio;
    smallest = a < smallest ? a : smallest;
  }
  return {ratio, smallest};
}

float scan_maximum(const float* values, int64_t count) {
  float best = -kInfinity;
#pragma omp simd reduction(max : best)
  for (int64_t j = 0; j < count; ++j) best = values[j] > best ? values[j] : best;
  return best;
}

float scan_squared_norm(const float* values, int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < count; ++j) sum += values[j] * values[j];
  return sum;
}

// One bit, with its margin a at the start of the path and its gain b towards the end.
inline float bit_ratio(float a, float b, float tiny_a, float tiny_b) {
  const float at_tie = b > tiny_b ? kInfinity : -kInfinity;
  return a > tiny_a ? b / a : at_tie;
}

// Width as a compile-time constant where it is a common one, so that the loops over bits unroll; 0:
// any.
template <int kWidth>
void scan_bits(const BitExit& problem, int64_t begin, int64_t end) {
  const int width = kWidth > 0 ? kWidth : problem.width;
  const float tiny = 0.5e-6f * std::sqrt(static_cast<float>(width));
  for (int64_t element = begin; element < end; ++element) {
    const float* x0 = problem.x0 + element * width;
    const float* eps = problem.eps + element * width;
    if (problem.decode) {
      int64_t pattern = 0;
      for (int bit = 0; bit < width; ++bit) pattern |= int64_t{x0[bit] > 0} << bit;
      problem.patterns[element] = pattern;
    }
    const int64_t pattern = problem.patterns[element];
    if (pattern < 0) {
      problem.ratio[element] = kInfinity;
      problem.outside[element] = false;
      continue;
    }
    const float tiny_a = tiny * std::sqrt(scan_squared_norm(x0, width));
    const float tiny_b = tiny * std::sqrt(scan_squared_norm(eps, width));
    float ratio = -kInfinity, smallest = kInfinity;
#pragma omp simd reduction(max : ratio) reduction(min : smallest)
    for (int bit = 0; bit < width; ++bit) {
      const float sign = pattern >> bit & 1 ? 1.0f : -1.0f;
      const float a = sign * x0[bit], b = -sign * eps[bit];
      const float candidate = bit_ratio(a, b, tiny_a, tiny_b);
      ratio = candidate > ratio ? candidate : ratio;
      smallest = a < smallest ? a : smallest;
    }
    const bool outside = smallest < -tiny_a;
    problem.ratio[element] = outside ? kInfinity : ratio;
    problem.outside[element] = outside;
  }
}

void scan_bit_exit(const BitExit& problem, int64_t begin, int64_t end) {
  switch (problem.width) {
    case 8:
      return scan_bits<8>(problem, begin, end);
    case 16:
      return scan_bits<16>(problem, begin, end);
    default:
      return scan_bits<0>(problem, begin, end);
  }
}

}  // namespace

extern const RowScan TESSERA_NAME(row_scan_, TESSERA_ISA);
const RowScan TESSERA_NAME(row_scan_, TESSERA_ISA) = {
    TESSERA_TEXT(TESSERA_ISA), scan_exit, scan_maximum, scan_squared_norm, scan_bit_exit};

}  // namespace tessera::kernels::cpu
