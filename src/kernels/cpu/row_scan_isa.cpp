// Compiled once per instruction set (macro TESSERA_ISA, flags in src/CMakeLists.txt). The loops are
// plain C++ that the compiler vectorises.

#include "kernels/cpu/isa.h"
#include "kernels/cpu/row_scan.h"

#include <cmath>
#include <limits>

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

// Common widths are a compile-time constant, so that the loops over bits unroll into a few vector
// instructions; 0: any width.
template <int kWidth>
void scan_bits(const BitExit& problem, int64_t begin, int64_t end) {
  constexpr int kMost = kWidth > 0 ? kWidth : 16;
  const int width = kWidth > 0 ? kWidth : problem.width;
  const float tiny = 0.5e-6f * std::sqrt(static_cast<float>(width));
  float a[kMost], b[kMost], bit_of[kMost];
  for (int bit = 0; bit < width; ++bit) bit_of[bit] = static_cast<float>(1 << bit);
  for (int64_t element = begin; element < end; ++element) {
    const float* x0 = problem.x0 + element * width;
    const float* eps = problem.eps + element * width;
    if (problem.decode) {
      float pattern = 0;  // exact: at most 2^16
#pragma omp simd reduction(+ : pattern)
      for (int bit = 0; bit < width; ++bit) pattern += x0[bit] > 0 ? bit_of[bit] : 0.0f;
      problem.patterns[element] = static_cast<int64_t>(pattern);
    }
    const int64_t pattern = problem.patterns[element];
    const auto bits = static_cast<int32_t>(pattern);
    // Margin of every bit at the start of the path, and its gain towards the end.
    float length_a = 0, length_b = 0, smallest = kInfinity;
#pragma omp simd reduction(+ : length_a, length_b) reduction(min : smallest)
    for (int bit = 0; bit < width; ++bit) {
      const bool set = (bits & (1 << bit)) != 0;
      a[bit] = set ? x0[bit] : -x0[bit];
      b[bit] = set ? -eps[bit] : eps[bit];
      length_a += a[bit] * a[bit];
      length_b += b[bit] * b[bit];
      smallest = a[bit] < smallest ? a[bit] : smallest;
    }
    const float tiny_a = tiny * std::sqrt(length_a), tiny_b = tiny * std::sqrt(length_b);
    float ratio = -kInfinity;
#pragma omp simd reduction(max : ratio)
    for (int bit = 0; bit < width; ++bit) {
      const float at_tie = b[bit] > tiny_b ? kInfinity : -kInfinity;
      const float candidate = a[bit] > tiny_a ? b[bit] / a[bit] : at_tie;
      ratio = candidate > ratio ? candidate : ratio;
    }
    const bool has_cell = pattern >= 0, outside = has_cell && smallest < -tiny_a;
    problem.ratio[element] = has_cell && !outside ? ratio : kInfinity;
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
