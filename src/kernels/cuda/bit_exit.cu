#include "kernels/bit_exit.h"

#include <array>
#include <cmath>
#include <utility>

#include "kernels/cuda/launch.h"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxWidth = 16;

// The width is a template argument so that a row lives in registers.
template <int width>
struct Row {
  float value[width];
};

template <int width>
__device__ Row<width> load(const float* rows, int64_t i, bool aligned) {
  Row<width> row;
  if (width % 4 == 0 && aligned) {
#pragma unroll
    for (int j = 0; j < width / 4; ++j) {
      const float4 quad = __ldg(reinterpret_cast<const float4*>(rows + i * width) + j);
      row.value[4 * j] = quad.x;
      row.value[4 * j + 1] = quad.y;
      row.value[4 * j + 2] = quad.z;
      row.value[4 * j + 3] = quad.w;
    }
  } else {
#pragma unroll
    for (int j = 0; j < width; ++j) row.value[j] = __ldg(rows + i * width + j);
  }
  return row;
}

// 0.5e-6 |row| sqrt(width)
template <int width>
__device__ float tiny(const Row<width>& row) {
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < width; ++j) squares += row.value[j] * row.value[j];
  return 0.5e-6f * sqrtf(squares) * sqrtf(width);
}

template <int width>
__device__ int64_t decode(const Row<width>& x0) {
  int64_t pattern = 0;
#pragma unroll
  for (int j = 0; j < width; ++j) pattern |= int64_t{x0.value[j] > 0.0f} << j;
  return pattern;
}

template <int width>
__global__ void bit_exit_kernel(const BitExit problem, bool aligned) {
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < problem.n; i += stride) {
    const Row<width> x0 = load<width>(problem.x0, i, aligned);
    const Row<width> eps = load<width>(problem.eps, i, aligned);
    const int64_t pattern = problem.decode ? decode(x0) : problem.patterns[i];
    const float tiny_a = tiny(x0);
    const float tiny_b = tiny(eps);
    float best = pattern < 0 ? INFINITY : -INFINITY;
    bool outside = false;
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const bool set = (pattern >> j & 1) != 0;
      const float a = set ? x0.value[j] : -x0.value[j];
      const float b = set ? -eps.value[j] : eps.value[j];
      if (a > tiny_a) {
        best = fmaxf(best, b / a);
      } else if (a < -tiny_a) {
        outside = true;
      } else if (b > tiny_b) {
        best = INFINITY;
      }
    }
    outside = outside && pattern >= 0;
    problem.ratio[i] = outside ? INFINITY : best;
    problem.outside[i] = outside;
    if (problem.decode) problem.patterns[i] = pattern;
  }
}

using Kernel = void (*)(BitExit, bool);

template <int... widths>
constexpr std::array<Kernel, sizeof...(widths)> kernels_of(std::integer_sequence<int, widths...>) {
  return {bit_exit_kernel<widths + 1>...};
}

}  // namespace

void bit_exit(const BitExit& problem, void* stream) {
  if (problem.n == 0) return;
  if (problem.width < 1 || problem.width > kMaxWidth) {
    throw std::runtime_error("bit_exit: width " + std::to_string(problem.width) +
                             " is not in [1, 16]");
  }
  static const auto kernels = kernels_of(std::make_integer_sequence<int, kMaxWidth>());
  launch("bit_exit", kernels[problem.width - 1], stride_grid(problem.n, kThreads), kThreads, 0,
         stream, problem, is_aligned(problem.x0) && is_aligned(problem.eps));
}

}  // namespace tessera::kernels::cuda
