#include "kernels/join.h"

#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = kWalkers;

__global__ void __launch_bounds__(kThreads) join_kernel(const Join problem) {
  const int vectors = problem.channels / kVector;
  const int64_t count = problem.rows * vectors;
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x; at < count; at += stride) {
    Eight y = load(problem.a, at);
    const Eight b = load(problem.b, at);
    Eight bias{};
    if (problem.bias != nullptr) bias = load(problem.bias, at % vectors);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      y.value[i] = (y.value[i] + b.value[i] + bias.value[i]) * problem.scale;
    store(problem.y, at, y);
  }
}

__global__ void __launch_bounds__(kThreads) join_backward_kernel(const JoinBackward problem) {
  extern __shared__ float4 shared[];
  float* scratch = reinterpret_cast<float*>(shared);  // [kThreads * kVector]
  const Walk walk(problem.channels);
  const int64_t first = blockIdx.x * problem.rows_of_part;
  const int64_t last = min(first + problem.rows_of_part, problem.rows);
  Eight sum[1] = {};
  if (!walk.idle)
#pragma unroll 4
    for (int64_t row = first + walk.row; row < last; row += walk.rows) {
      const int64_t at = row * walk.vectors + walk.vector;
      Eight d = load(problem.dy, at);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        d.value[i] *= problem.scale;
        sum[0].value[i] += d.value[i];
      }
      store(problem.d, at, d);
    }
  sum_by_channel(sum, walk, problem.channels, scratch,
                 problem.sums + int64_t{blockIdx.x} * problem.channels);
}

}  // namespace

void join(const Join& problem, void* stream) {
  if (problem.rows == 0) return;
  check_rows("join", problem.channels, {problem.a, problem.b, problem.bias});
  const int64_t vectors = problem.rows * (problem.channels / kVector);
  launch("join", join_kernel, stride_grid(vectors, kThreads), kThreads, 0, stream, problem);
}

void join_backward(const JoinBackward& problem, void* stream) {
  if (problem.rows == 0) return;
  check_rows("join_backward", problem.channels, {problem.dy});
  launch("join_backward", join_backward_kernel, ceil_div(problem.rows, problem.rows_of_part),
         kThreads, sizeof(float) * kThreads * kVector, stream, problem);
}

}  // namespace tessera::kernels::cuda
