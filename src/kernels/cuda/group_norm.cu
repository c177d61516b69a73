#include "kernels/group_norm.h"

#include <cooperative_groups.h>

#include <cstddef>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.cuh"

// A team of blocks normalises a sample. Each block has few enough positions that its second pass
// over them finds them in the cache. A thread always has the same eight channels, so that their
// coefficients stay in registers.
namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = kWalkers;
constexpr int kMaxTeam = 8;
constexpr int64_t kBytesOfBlock = 64 << 10;  // of the picture, per block

// The blocks of a sample, which can read each other's shared memory.
using Team = cooperative_groups::cluster_group;

// The share of a block: positions first, ..., last - 1 of a sample.
struct Share {
  int64_t sample;
  int first, last;
  int64_t base;  // this thread's vector of the sample's first position

  __device__ Share(const GroupNorm& what, const Team& team, const Walk& walk)
      : Share(what, walk, static_cast<int>(team.num_blocks()),
              static_cast<int>(team.block_rank())) {}

 private:
  __device__ Share(const GroupNorm& what, const Walk& walk, int blocks, int rank)
      : sample(blockIdx.x / blocks),
        first(what.positions * rank / blocks),
        last(what.positions * (rank + 1) / blocks),
        base(sample * what.positions * walk.vectors + walk.vector) {}
};

// Sums over all threads of a team, for each channel, as sum_by_channel() does for a block. Other
// blocks may still be reading here: a block must call team.sync() before it exits.
//   partial, sums   [count * channels]
template <int count>
__device__ void sum_over_team(const Eight (&own)[count], const Team& team, const Walk& walk,
                              int channels, float* scratch, float* partial, float* sums) {
  sum_by_channel(own, walk, channels, scratch, partial);
  team.sync();
  for (int i = static_cast<int>(threadIdx.x); i < count * channels; i += kThreads) {
    float sum = 0;
    for (unsigned rank = 0; rank < team.num_blocks(); ++rank)
      sum += team.map_shared_rank(partial, rank)[i];
    sums[i] = sum;
  }
  __syncthreads();
}

// The offsets of a thread's eight channels.
__device__ Eight offsets(const GroupNorm& what, const Walk& walk) {
  return what.offset == nullptr ? Eight{} : load(what.offset, walk.vector);
}

// gain = w (1 + s), lift = b (1 + s) + t
__device__ void gains_and_lifts(const GroupNorm& what, const Walk& walk, int64_t sample,
                                Eight& gain, Eight& lift) {
  gain = load(what.weight, walk.vector);
  lift = load(what.bias, walk.vector);
  if (what.film == nullptr) return;
  const Eight scale = load(what.film, sample * 2 * walk.vectors + walk.vector);
  const Eight shift = load(what.film, (sample * 2 + 1) * walk.vectors + walk.vector);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    gain.value[i] *= 1 + scale.value[i];
    lift.value[i] = lift.value[i] * (1 + scale.value[i]) + shift.value[i];
  }
}

// The values of the groups that a thread's channels belong to.
__device__ Eight by_group(const float* groups, const Walk& walk, int size) {
  Eight result;
  int group = walk.channel(0) / size, left = (group + 1) * size - walk.channel(0);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    if (left == 0) {
      ++group;
      left = size;
    }
    result.value[i] = groups[group];
    --left;
  }
  return result;
}

// Both functions treat subnormal numbers as 0.
__device__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ float sigmoid(float h) {
  constexpr float kLog2E = 1.4426950408889634f;
  return reciprocal(1.0f + exp2_of(-kLog2E * h));
}

// Hands out consecutive arrays of floats in shared memory.
struct Room {
  float* next;
  __device__ float* take(int count) {
    float* place = next;
    next += count;
    return place;
  }
};

__global__ void __launch_bounds__(kThreads) forward_kernel(const GroupNormForward problem) {
  extern __shared__ float4 shared[];
  const GroupNorm& what = problem.what;
  Room room{reinterpret_cast<float*>(shared)};
  float* scratch = room.take(2 * kThreads * kVector);
  float* partial = room.take(2 * what.channels);
  float* sums = room.take(2 * what.channels);
  float* origins = room.take(what.channels);  // one value of every channel
  float* mean = room.take(what.groups);
  float* inverse = room.take(what.groups);
  const Team team = cooperative_groups::this_cluster();
  const Walk walk(what.channels);
  const Share share(what, team, walk);

  // Sums of the differences from one value of the channel, and of their squares. So values far from
  // zero lose no digits.
  Eight sum[2] = {}, offset{};
  if (!walk.idle) {
    const Eight origin = load(what.x, share.base);
    offset = offsets(what, walk);
    if (walk.row == 0)
#pragma unroll
      for (int i = 0; i < kVector; ++i)
        origins[walk.channel(i)] = origin.value[i] + offset.value[i];
#pragma unroll 4
    for (int p = share.first + walk.row; p < share.last; p += walk.rows) {
      const Eight x = load(what.x, share.base + int64_t{p} * walk.vectors);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        const float off = x.value[i] - origin.value[i];
        sum[0].value[i] += off;
        sum[1].value[i] += off * off;
      }
    }
  }
  sum_over_team(sum, team, walk, what.channels, scratch, partial, sums);

  const int size = what.channels / what.groups;
  const auto positions = static_cast<float>(what.positions);
  const float share_of_position = 1 / positions, share_of_channel = 1 / static_cast<float>(size);
  for (int group = static_cast<int>(threadIdx.x); group < what.groups; group += kThreads) {
    const auto channel_mean = [&](int c) { return origins[c] + sums[c] * share_of_position; };
    float middle = 0, squares = 0;
    for (int c = group * size; c < (group + 1) * size; ++c) middle += channel_mean(c);
    middle *= share_of_channel;
    for (int c = group * size; c < (group + 1) * size; ++c) {
      const float off = channel_mean(c) - middle, sum_c = sums[c];
      squares +=
          sums[what.channels + c] - sum_c * sum_c * share_of_position + positions * off * off;
    }
    const float variance = fmaxf(squares, 0.0f) * share_of_position * share_of_channel;
    mean[group] = middle;
    inverse[group] = rsqrtf(variance + what.eps);
    if (team.block_rank() == 0) {
      problem.mean[share.sample * what.groups + group] = middle;
      problem.inverse[share.sample * what.groups + group] = inverse[group];
    }
  }
  __syncthreads();

  if (!walk.idle) {
    Eight factor, summand;  // h = x * factor + summand
    gains_and_lifts(what, walk, share.sample, factor, summand);
    const Eight middle = by_group(mean, walk, size), width = by_group(inverse, walk, size);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      factor.value[i] *= width.value[i];
      summand.value[i] += (offset.value[i] - middle.value[i]) * factor.value[i];
    }
#pragma unroll 4
    for (int p = share.first + walk.row; p < share.last; p += walk.rows) {
      const int64_t place = share.base + int64_t{p} * walk.vectors;
      Eight y = load(what.x, place);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        const float h = y.value[i] * factor.value[i] + summand.value[i];
        y.value[i] = what.silu ? h * sigmoid(h) : h;
      }
      store(problem.y, place, y);
    }
  }
  team.sync();
}

// with_offset: also compute the sums of dL/dx
template <bool with_offset>
__global__ void __launch_bounds__(kThreads) backward_kernel(const GroupNormBackward problem) {
  constexpr int kSums = with_offset ? 3 : 2;
  extern __shared__ float4 shared[];
  const GroupNorm& what = problem.what;
  Room room{reinterpret_cast<float*>(shared)};
  float* scratch = room.take(kSums * kThreads * kVector);
  float* partial = room.take(kSums * what.channels);
  float* sums = room.take(kSums * what.channels);  // of dL/dh, of dL/dh * n and of n
  float* gains = room.take(what.channels);
  float* lift_mean = room.take(what.groups);  // of dL/dn
  float* gain_mean = room.take(what.groups);  // of dL/dn * n
  const float* lift_sums = sums;
  const float* gain_sums = sums + what.channels;
  const Team team = cooperative_groups::this_cluster();
  const Walk walk(what.channels);
  const Share share(what, team, walk);
  const int size = what.channels / what.groups;
  const float* means = problem.mean + share.sample * what.groups;
  const float* inverses = problem.inverse + share.sample * what.groups;

  Eight centre{}, inverse{}, gain{}, lift{};
  if (!walk.idle) {
    gains_and_lifts(what, walk, share.sample, gain, lift);
    centre = by_group(means, walk, size);
    inverse = by_group(inverses, walk, size);
    const Eight offset = offsets(what, walk);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      centre.value[i] -= offset.value[i];
      if (walk.row == 0) gains[walk.channel(i)] = gain.value[i];
    }
  }
  // n and dL/dh of eight channels at a position.
  const auto look = [&](int p, Eight& n, Eight& dh) {
    const int64_t place = share.base + int64_t{p} * walk.vectors;
    n = load(what.x, place);
    dh = load(problem.dy, place);
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

  Eight sum[kSums] = {};
  if (!walk.idle)
#pragma unroll 2
    for (int p = share.first + walk.row; p < share.last; p += walk.rows) {
      Eight n, dh;
      look(p, n, dh);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        sum[0].value[i] += dh.value[i];
        sum[1].value[i] += dh.value[i] * n.value[i];
        if constexpr (with_offset) sum[2].value[i] += n.value[i];
      }
    }
  sum_over_team(sum, team, walk, what.channels, scratch, partial, sums);

  const auto positions = static_cast<float>(what.positions);
  for (int group = static_cast<int>(threadIdx.x); group < what.groups; group += kThreads) {
    float lifts = 0, along = 0;
    for (int c = group * size; c < (group + 1) * size; ++c) {
      lifts += gains[c] * lift_sums[c];
      along += gains[c] * gain_sums[c];
    }
    lift_mean[group] = lifts / (positions * static_cast<float>(size));
    gain_mean[group] = along / (positions * static_cast<float>(size));
  }
  __syncthreads();
  if (team.block_rank() == 0)
    for (int c = static_cast<int>(threadIdx.x); c < what.channels; c += kThreads) {
      const int group = c / size;
      const int64_t place = share.sample * what.channels + c;
      problem.d_lift[place] = lift_sums[c];
      problem.d_gain[place] = gain_sums[c];
      if constexpr (with_offset)
        problem.d_offset[place] =
            inverses[group] * (gains[c] * lift_sums[c] - positions * lift_mean[group] -
                               sums[2 * what.channels + c] * gain_mean[group]);
    }

  if (!walk.idle) {
    const Eight level = by_group(lift_mean, walk, size), slope = by_group(gain_mean, walk, size);
#pragma unroll 2
    for (int p = share.first + walk.row; p < share.last; p += walk.rows) {
      Eight n, dh, dx;
      look(p, n, dh);
#pragma unroll
      for (int i = 0; i < kVector; ++i)
        dx.value[i] = inverse.value[i] *
                      (dh.value[i] * gain.value[i] - level.value[i] - n.value[i] * slope.value[i]);
      store(problem.dx, share.base + int64_t{p} * walk.vectors, dx);
    }
  }
  team.sync();
}

void check(const GroupNorm& what) {
  check_rows("group_norm", what.channels, {what.x, what.weight, what.bias, what.film, what.offset});
  if (what.channels % what.groups != 0)
    throw std::runtime_error("group_norm: " + std::to_string(what.channels) + " channels in " +
                             std::to_string(what.groups) + " groups are not supported");
}

// Launches a kernel that adds up `sums` kinds of values per channel.
template <class Problem>
void launch_for(const char* name, void (*kernel)(Problem), const Problem& problem, int sums,
                void* stream) {
  const GroupNorm& what = problem.what;
  if (what.samples == 0) return;
  check(what);
  const int64_t bytes = int64_t{2} * what.positions * what.channels;
  int size = 1;
  while (size < kMaxTeam && bytes > size * kBytesOfBlock) size *= 2;
  const auto channels = static_cast<std::size_t>(what.channels);
  const std::size_t floats = sums * (std::size_t{kThreads} * kVector + 2 * channels) + channels +
                             2 * static_cast<std::size_t>(what.groups);
  launch_teams(name, kernel, what.samples, size, kThreads, sizeof(float) * floats, stream, problem);
}

}  // namespace

void group_norm(const GroupNormForward& problem, void* stream) {
  launch_for("group_norm", forward_kernel, problem, /*sums=*/2, stream);
}

void group_norm_backward(const GroupNormBackward& problem, void* stream) {
  if (problem.d_offset != nullptr)
    launch_for("group_norm_backward", backward_kernel<true>, problem, /*sums=*/3, stream);
  else
    launch_for("group_norm_backward", backward_kernel<false>, problem, /*sums=*/2, stream);
}

}  // namespace tessera::kernels::cuda
