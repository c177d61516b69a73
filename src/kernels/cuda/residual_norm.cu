#include "kernels/residual_norm.h"

#include <type_traits>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.cuh"

// A warp processes one row at a time. A lane has the same channels of every row (vectors lane,
// lane + 32, ...) and keeps them in registers from the first sum to the last.
namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 32;
constexpr int kWarps = kThreads / kLanes;
constexpr int kKinds = 3;  // gradients that are sums over rows: of scale, shift, bias

__device__ int lane() {
  return static_cast<int>(threadIdx.x) % kLanes;
}
__device__ int warp() {
  return static_cast<int>(threadIdx.x) / kLanes;
}

__device__ float sum_of_warp(float value) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

// `keep` if the element is kept, else 0.
__device__ Eight factors(const uint8_t* kept, float keep, int64_t index) {
  Eight result;
  if (kept == nullptr) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) result.value[i] = 1;
    return result;
  }
  const uint2 bits = __ldg(reinterpret_cast<const uint2*>(kept) + index);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const uint32_t word = i < 4 ? bits.x : bits.y;
    result.value[i] = (word >> (8 * (i % 4)) & 0xff) != 0 ? keep : 0;
  }
  return result;
}

__device__ float rounded(float value) {
  return __bfloat162float(__float2bfloat16_rn(value));
}

//   kOf   vectors per lane
template <int kOf>
__global__ void __launch_bounds__(kThreads) forward_kernel(const ResidualNorm problem) {
  const int64_t row = int64_t{blockIdx.x} * kWarps + warp();
  if (row >= problem.rows) return;
  const int vectors = problem.channels / kVector;
  Eight s[kOf] = {};
  float total = 0;
#pragma unroll
  for (int k = 0; k < kOf; ++k) {
    const int vector = lane() + k * kLanes;
    if (vector >= vectors) break;
    const int64_t at = row * vectors + vector;
    const Eight x = load(problem.x, at), part = load(problem.part, at);
    const Eight factor = factors(problem.kept, problem.keep, at);
    Eight bias{};
    if (problem.bias != nullptr) bias = load(problem.bias, vector);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      s[k].value[i] = rounded(x.value[i] + (part.value[i] + bias.value[i]) * factor.value[i]);
      total += s[k].value[i];
    }
    if (problem.sum != nullptr) store(problem.sum, at, s[k]);
  }
  const float mean = sum_of_warp(total) / static_cast<float>(problem.channels);
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kOf; ++k) {
    if (lane() + k * kLanes >= vectors) break;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      s[k].value[i] -= mean;
      squares += s[k].value[i] * s[k].value[i];
    }
  }
  const float inverse =
      rsqrtf(sum_of_warp(squares) / static_cast<float>(problem.channels) + problem.eps);
#pragma unroll
  for (int k = 0; k < kOf; ++k) {
    const int vector = lane() + k * kLanes;
    if (vector >= vectors) break;
    const Eight scale = load(problem.scale, vector), shift = load(problem.shift, vector);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      s[k].value[i] = s[k].value[i] * inverse * scale.value[i] + shift.value[i];
    store(problem.y, row * vectors + vector, s[k]);
  }
  if (problem.mean == nullptr || lane() != 0) return;
  problem.mean[row] = mean;
  problem.inverse[row] = inverse;
}

// With g = dy * scale:  ds = (g - mean(g) - n * mean(g * n)) * inverse
template <int kOf>
__global__ void __launch_bounds__(kThreads) backward_kernel(const ResidualNormBackward problem) {
  extern __shared__ float4 shared[];
  float* scratch = reinterpret_cast<float*>(shared);  // [kWarps, channels]
  const int vectors = problem.channels / kVector;
  const float share = 1.0f / static_cast<float>(problem.channels);
  Eight sums[kKinds][kOf] = {};
  for (int64_t row = int64_t{blockIdx.x} * kWarps + warp(); row < problem.rows;
       row += problem.blocks * kWarps) {
    const float mean = problem.mean[row], inverse = problem.inverse[row];
    Eight n[kOf] = {}, g[kOf] = {};
    float sum = 0, product = 0;
#pragma unroll
    for (int k = 0; k < kOf; ++k) {
      const int vector = lane() + k * kLanes;
      if (vector >= vectors) break;
      const int64_t at = row * vectors + vector;
      const Eight s = load(problem.sum, at), dy = load(problem.dy, at);
      const Eight scale = load(problem.scale, vector);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        n[k].value[i] = (s.value[i] - mean) * inverse;
        g[k].value[i] = dy.value[i] * scale.value[i];
        sums[0][k].value[i] += dy.value[i] * n[k].value[i];
        sums[1][k].value[i] += dy.value[i];
        sum += g[k].value[i];
        product += g[k].value[i] * n[k].value[i];
      }
    }
    sum = sum_of_warp(sum) * share;
    product = sum_of_warp(product) * share;
#pragma unroll
    for (int k = 0; k < kOf; ++k) {
      const int vector = lane() + k * kLanes;
      if (vector >= vectors) break;
      const int64_t at = row * vectors + vector;
      const Eight factor = factors(problem.kept, problem.keep, at);
      Eight d, d_part;
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        d.value[i] = (g[k].value[i] - sum - n[k].value[i] * product) * inverse;
        d_part.value[i] = d.value[i] * factor.value[i];
        sums[2][k].value[i] += d_part.value[i];
      }
      store(problem.dx, at, d);
      if (problem.d_part != nullptr) store(problem.d_part, at, d_part);
    }
  }

  // Every warp stores its sums, and the block adds them up.
#pragma unroll
  for (int kind = 0; kind < kKinds; ++kind) {
#pragma unroll
    for (int k = 0; k < kOf; ++k) {
      const int vector = lane() + k * kLanes;
      if (vector >= vectors) break;
      auto* place =
          reinterpret_cast<float4*>(scratch + warp() * problem.channels + vector * kVector);
      const float* v = sums[kind][k].value;
      place[0] = {v[0], v[1], v[2], v[3]};
      place[1] = {v[4], v[5], v[6], v[7]};
    }
    __syncthreads();
    float* out = problem.sums + (int64_t{blockIdx.x} * kKinds + kind) * problem.channels;
    for (int i = static_cast<int>(threadIdx.x); i < problem.channels; i += kThreads) {
      float sum = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) sum += scratch[w * problem.channels + i];
      out[i] = sum;
    }
    __syncthreads();
  }
}

void check_problem(const char* name, int channels, std::initializer_list<const void*> rows) {
  check_rows(name, channels, rows);
  if (channels > kMaxNormChannels)
    throw std::runtime_error(std::string(name) + ": " + std::to_string(channels) +
                             " channels are too many");
}

// Calls call() with the number of vectors per lane as a constant.
template <class Call>
void with_vectors(int channels, const Call& call) {
  constexpr int kStride = kLanes * kVector;
  if (channels <= kStride)
    call(std::integral_constant<int, 1>());
  else if (channels <= 2 * kStride)
    call(std::integral_constant<int, 2>());
  else
    call(std::integral_constant<int, kMaxNormChannels / kStride>());
}

}  // namespace

void residual_norm(const ResidualNorm& problem, void* stream) {
  if (problem.rows == 0) return;
  check_problem("residual_norm", problem.channels,
                {problem.x, problem.part, problem.bias, problem.kept, problem.scale, problem.shift,
                 problem.y, problem.sum});
  with_vectors(problem.channels, [&](auto vectors) {
    launch("residual_norm", forward_kernel<vectors()>, ceil_div(problem.rows, kWarps), kThreads, 0,
           stream, problem);
  });
}

int64_t residual_norm_blocks(int64_t rows) {
  return std::max<int64_t>(1, std::min<int64_t>(ceil_div(rows, kWarps), 2 * multiprocessors()));
}

void residual_norm_backward(const ResidualNormBackward& problem, void* stream) {
  check_problem("residual_norm_backward", problem.channels,
                {problem.kept, problem.scale, problem.sum, problem.dy, problem.dx, problem.d_part});
  with_vectors(problem.channels, [&](auto vectors) {
    launch("residual_norm_backward", backward_kernel<vectors()>, problem.blocks, kThreads,
           sizeof(float) * kWarps * problem.channels, stream, problem);
  });
}

}  // namespace tessera::kernels::cuda
