#include "kernels/group_norm.h"

#include <cuda_bf16.h>

#include "kernels/cuda/launch.h"

// One block normalises one sample. A thread keeps to eight channels and walks over positions, so
// that its coefficients stay in registers; the second walk finds the picture in the cache.
namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kVector = 8;  // channels of a thread: 16 bytes
constexpr int kMaxChannels = 2048;

struct Eight {
  float value[kVector];
};

__device__ Eight load(const void* from, int64_t index) {
  const uint4 bits = *(reinterpret_cast<const uint4*>(from) + index);
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&bits);
  Eight result;
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    result.value[2 * i] = pair.x;
    result.value[2 * i + 1] = pair.y;
  }
  return result;
}

__device__ void store(void* to, int64_t index, const Eight& values) {
  uint4 bits;
  auto* pairs = reinterpret_cast<__nv_bfloat162*>(&bits);
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i)
    pairs[i] = __floats2bfloat162_rn(values.value[2 * i], values.value[2 * i + 1]);
  *(reinterpret_cast<uint4*>(to) + index) = bits;
}

// Where a thread stands in its sample.
struct Place {
  int vectors;   // of eight channels, in a position
  int vector;    // of this thread
  int row;       // first position of this thread
  int rows;      // positions that are read at once
  bool idle;     // threads that are left over
  int64_t base;  // first vector of the sample

  __device__ explicit Place(const GroupNorm& what)
      : vectors(what.channels / kVector),
        vector(threadIdx.x % vectors),
        row(threadIdx.x / vectors),
        rows(kThreads / vectors),
        idle(row >= rows),
        base(int64_t{blockIdx.x} * what.positions * vectors + vector) {}
};

// Adds up eight values of every thread with the same channels: sums[channel] for all channels.
//   scratch [kThreads * kVector]
__device__ void sum_by_channel(const Eight& own, const Place& place, int channels, float* scratch,
                               float* sums) {
  if (!place.idle)
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      scratch[place.row * channels + place.vector * kVector + i] = own.value[i];
  __syncthreads();
  for (int channel = threadIdx.x; channel < channels; channel += kThreads) {
    float sum = 0;
    for (int row = 0; row < place.rows; ++row) sum += scratch[row * channels + channel];
    sums[channel] = sum;
  }
  __syncthreads();
}

// Mean over the channels of every group: means[group] of sums[channel], each times factors[channel]
// where there are some.
__device__ void mean_by_group(const float* sums, const float* factors, const GroupNorm& what,
                              float* means) {
  const int size = what.channels / what.groups;
  const float share = 1.0f / (static_cast<float>(size) * static_cast<float>(what.positions));
  for (int group = threadIdx.x; group < what.groups; group += kThreads) {
    float sum = 0;
    for (int i = group * size; i < (group + 1) * size; ++i)
      sum += factors == nullptr ? sums[i] : sums[i] * factors[i];
    means[group] = sum * share;
  }
  __syncthreads();
}

// gain = w (1 + s), lift = b (1 + s) + t of one channel.
__device__ float2 gain_and_lift(const GroupNorm& what, int channel) {
  const auto* weight = static_cast<const __nv_bfloat16*>(what.weight);
  const auto* bias = static_cast<const __nv_bfloat16*>(what.bias);
  float scale = 1, shift = 0;
  if (what.film != nullptr) {
    const auto* film =
        static_cast<const __nv_bfloat16*>(what.film) + int64_t{blockIdx.x} * 2 * what.channels;
    scale += __bfloat162float(film[channel]);
    shift = __bfloat162float(film[what.channels + channel]);
  }
  return {__bfloat162float(weight[channel]) * scale,
          __bfloat162float(bias[channel]) * scale + shift};
}

__device__ float sigmoid(float h) {
  return 1.0f / (1.0f + __expf(-h));
}

__global__ void __launch_bounds__(kThreads) forward_kernel(const GroupNormForward problem) {
  extern __shared__ float shared[];
  const GroupNorm& what = problem.what;
  float* scratch = shared;                     // [kThreads * kVector]
  float* sums = scratch + kThreads * kVector;  // [channels]
  float* mean = sums + what.channels;          // [groups]
  float* inverse = mean + what.groups;         // [groups]
  const Place place(what);

  Eight sum{};
  if (!place.idle)
    for (int p = place.row; p < what.positions; p += place.rows) {
      const Eight x = load(what.x, place.base + int64_t{p} * place.vectors);
#pragma unroll
      for (int i = 0; i < kVector; ++i) sum.value[i] += x.value[i];
    }
  sum_by_channel(sum, place, what.channels, scratch, sums);
  mean_by_group(sums, nullptr, what, mean);

  const int size = what.channels / what.groups;
  Eight centre{};
  if (!place.idle)
#pragma unroll
    for (int i = 0; i < kVector; ++i) centre.value[i] = mean[(place.vector * kVector + i) / size];
  Eight squares{};
  if (!place.idle)
    for (int p = place.row; p < what.positions; p += place.rows) {
      const Eight x = load(what.x, place.base + int64_t{p} * place.vectors);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        const float off = x.value[i] - centre.value[i];
        squares.value[i] += off * off;
      }
    }
  sum_by_channel(squares, place, what.channels, scratch, sums);
  mean_by_group(sums, nullptr, what, inverse);
  for (int group = threadIdx.x; group < what.groups; group += kThreads) {
    inverse[group] = rsqrtf(inverse[group] + what.eps);
    problem.mean[int64_t{blockIdx.x} * what.groups + group] = mean[group];
    problem.inverse[int64_t{blockIdx.x} * what.groups + group] = inverse[group];
  }
  __syncthreads();
  if (place.idle) return;

  Eight factor, summand;
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const int channel = place.vector * kVector + i;
    const float2 affine = gain_and_lift(what, channel);
    factor.value[i] = affine.x * inverse[channel / size];
    summand.value[i] = affine.y - mean[channel / size] * factor.value[i];
  }
  for (int p = place.row; p < what.positions; p += place.rows) {
    const int64_t at = place.base + int64_t{p} * place.vectors;
    Eight y = load(what.x, at);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const float h = y.value[i] * factor.value[i] + summand.value[i];
      y.value[i] = what.silu ? h * sigmoid(h) : h;
    }
    store(problem.y, at, y);
  }
}

__global__ void __launch_bounds__(kThreads) backward_kernel(const GroupNormBackward problem) {
  extern __shared__ float shared[];
  const GroupNorm& what = problem.what;
  float* scratch = shared;                          // [kThreads * kVector]
  float* lift_sums = scratch + kThreads * kVector;  // [channels]  of dL/dh
  float* gain_sums = lift_sums + what.channels;     // [channels]  of dL/dh * n
  float* gains = gain_sums + what.channels;         // [channels]
  float* lift_mean = gains + what.channels;         // [groups]    of dL/dn
  float* gain_mean = lift_mean + what.groups;       // [groups]    of dL/dn * n
  const Place place(what);
  const int size = what.channels / what.groups;
  const float* means = problem.mean + int64_t{blockIdx.x} * what.groups;
  const float* inverses = problem.inverse + int64_t{blockIdx.x} * what.groups;

  Eight centre{}, inverse{}, gain{}, lift{};
  if (!place.idle)
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const int channel = place.vector * kVector + i;
      const float2 affine = gain_and_lift(what, channel);
      gain.value[i] = affine.x;
      lift.value[i] = affine.y;
      centre.value[i] = means[channel / size];
      inverse.value[i] = inverses[channel / size];
      if (place.row == 0) gains[channel] = affine.x;
    }
  // n and dL/dh of eight channels at a position.
  const auto look = [&](int p, Eight& n, Eight& dh) {
    const int64_t at = place.base + int64_t{p} * place.vectors;
    n = load(what.x, at);
    dh = load(problem.dy, at);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      n.value[i] = (n.value[i] - centre.value[i]) * inverse.value[i];
      if (what.silu) {
        const float h = n.value[i] * gain.value[i] + lift.value[i];
        const float s = sigmoid(h);
        dh.value[i] *= s * (1 + h * (1 - s));
      }
    }
  };

  Eight lift_sum{}, gain_sum{}, n, dh;
  if (!place.idle)
    for (int p = place.row; p < what.positions; p += place.rows) {
      look(p, n, dh);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        lift_sum.value[i] += dh.value[i];
        gain_sum.value[i] += dh.value[i] * n.value[i];
      }
    }
  sum_by_channel(lift_sum, place, what.channels, scratch, lift_sums);
  sum_by_channel(gain_sum, place, what.channels, scratch, gain_sums);
  for (int channel = threadIdx.x; channel < what.channels; channel += kThreads) {
    problem.d_lift[int64_t{blockIdx.x} * what.channels + channel] = lift_sums[channel];
    problem.d_gain[int64_t{blockIdx.x} * what.channels + channel] = gain_sums[channel];
  }
  mean_by_group(lift_sums, gains, what, lift_mean);
  mean_by_group(gain_sums, gains, what, gain_mean);
  if (place.idle) return;

  for (int p = place.row; p < what.positions; p += place.rows) {
    look(p, n, dh);
    Eight dx;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const int group = (place.vector * kVector + i) / size;
      dx.value[i] = inverse.value[i] * (dh.value[i] * gain.value[i] - lift_mean[group] -
                                        n.value[i] * gain_mean[group]);
    }
    store(problem.dx, place.base + int64_t{p} * place.vectors, dx);
  }
}

void check(const GroupNorm& what) {
  if (what.channels % kVector != 0 || what.channels > kMaxChannels ||
      what.channels % what.groups != 0)
    throw std::runtime_error("group_norm: " + std::to_string(what.channels) + " channels in " +
                             std::to_string(what.groups) + " groups are not supported");
}

}  // namespace

void group_norm(const GroupNormForward& problem, void* stream) {
  const GroupNorm& what = problem.what;
  if (what.samples == 0) return;
  check(what);
  const size_t bytes =
      sizeof(float) * (kThreads * kVector + static_cast<size_t>(what.channels) + 2 * what.groups);
  launch("group_norm", forward_kernel, static_cast<unsigned>(what.samples), kThreads, bytes, stream,
         problem);
}

void group_norm_backward(const GroupNormBackward& problem, void* stream) {
  const GroupNorm& what = problem.what;
  if (what.samples == 0) return;
  check(what);
  const size_t bytes = sizeof(float) * (kThreads * kVector +
                                        3 * static_cast<size_t>(what.channels) + 2 * what.groups);
  launch("group_norm_backward", backward_kernel, static_cast<unsigned>(what.samples), kThreads,
         bytes, stream, problem);
}

}  // namespace tessera::kernels::cuda
