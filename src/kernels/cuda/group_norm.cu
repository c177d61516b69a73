#include "kernels/group_norm.h"

#include <cooperative_groups.h>

#include <cstddef>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.cuh"

// A sample is normalised by a team of blocks, each with so few of its positions that the second
// walk over them finds them in the cache. A thread keeps to eight channels, so that its
// coefficients stay in registers.
namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxChannels = kThreads * kVector;
constexpr int kMaxTeam = 8;
constexpr int64_t kBytesOfBlock = 64 << 10;  // of the picture

// The blocks of a sample, which see one another's shared memory. Before compute capability 9.0 a
// block works alone.
struct Team {
#if __CUDA_ARCH__ >= 900
  __device__ int size() const {
    return cooperative_groups::this_cluster().num_blocks();
  }
  __device__ int rank() const {
    return cooperative_groups::this_cluster().block_rank();
  }
  __device__ void sync() const {
    cooperative_groups::this_cluster().sync();
  }
  __device__ const float* of(int rank, float* own) const {
    return cooperative_groups::this_cluster().map_shared_rank(own, rank);
  }
#else
  __device__ int size() const {
    return 1;
  }
  __device__ int rank() const {
    return 0;
  }
  __device__ void sync() const {
    __syncthreads();
  }
  __device__ const float* of(int, float* own) const {
    return own;
  }
#endif
};

// What a block has to do: positions first, ..., last - 1 of a sample.
struct Share {
  int64_t sample;
  int first, last;
  int64_t base;  // this thread's vector of the sample's first position

  __device__ Share(const GroupNorm& what, const Team& team, const Walk& walk)
      : sample(blockIdx.x / team.size()),
        first(what.positions * team.rank() / team.size()),
        last(what.positions * (team.rank() + 1) / team.size()),
        base(sample * what.positions * walk.vectors + walk.vector) {}
};

// Adds up what all threads of a team have of the same channel, as sum_by_channel() does. Blocks
// may leave after another sync() of the team only, which waits for those who still read here.
//   partial, sums   [count * channels]
template <int count>
__device__ void sum_over_team(const Eight (&own)[count], const Team& team, const Walk& walk,
                              int channels, float* scratch, float* partial, float* sums) {
  sum_by_channel(own, walk, channels, scratch, partial);
  team.sync();
  for (int i = static_cast<int>(threadIdx.x); i < count * channels; i += kThreads) {
    float sum = 0;
    for (int rank = 0; rank < team.size(); ++rank) sum += team.of(rank, partial)[i];
    sums[i] = sum;
  }
  __syncthreads();
}

__device__ float at(const void* bfloat16s, int64_t index) {
  return __bfloat162float(static_cast<const __nv_bfloat16*>(bfloat16s)[index]);
}

__device__ float offset_of(const GroupNorm& what, int channel) {
  return what.offset == nullptr ? 0 : at(what.offset, channel);
}

// gain = w (1 + s), lift = b (1 + s) + t of one channel.
__device__ float2 gain_and_lift(const GroupNorm& what, int64_t sample, int channel) {
  float scale = 1, shift = 0;
  if (what.film != nullptr) {
    const int64_t row = sample * 2 * what.channels;
    scale += at(what.film, row + channel);
    shift = at(what.film, row + what.channels + channel);
  }
  return {at(what.weight, channel) * scale, at(what.bias, channel) * scale + shift};
}

__device__ float sigmoid(float h) {
  return __fdividef(1.0f, 1.0f + __expf(-h));
}

// Places in shared memory, one after the other, of floats.
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
  float* origins = room.take(what.channels);  // of a channel's values: the first of them
  float* mean = room.take(what.groups);
  float* inverse = room.take(what.groups);
  const Team team;
  const Walk walk(what.channels, kThreads);
  const Share share(what, team, walk);

  // Sums of distances from a value of the channel, and of their squares: as exact as if the mean
  // were known.
  Eight sum[2] = {}, origin{};
  if (!walk.idle) {
    origin = load(what.x, share.base);
    if (walk.row == 0)
#pragma unroll
      for (int i = 0; i < kVector; ++i) origins[walk.channel(i)] = origin.value[i];
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
  for (int group = static_cast<int>(threadIdx.x); group < what.groups; group += kThreads) {
    const auto channel_mean = [&](int c) {
      return origins[c] + offset_of(what, c) + sums[c] / positions;
    };
    float middle = 0, squares = 0;
    for (int c = group * size; c < (group + 1) * size; ++c) middle += channel_mean(c);
    middle /= static_cast<float>(size);
    for (int c = group * size; c < (group + 1) * size; ++c) {
      const float off = channel_mean(c) - middle, sum_c = sums[c];
      squares += sums[what.channels + c] - sum_c * sum_c / positions + positions * off * off;
    }
    const float variance = fmaxf(squares, 0.0f) / (positions * static_cast<float>(size));
    mean[group] = middle;
    inverse[group] = rsqrtf(variance + what.eps);
    if (team.rank() == 0) {
      problem.mean[share.sample * what.groups + group] = middle;
      problem.inverse[share.sample * what.groups + group] = inverse[group];
    }
  }
  __syncthreads();

  if (!walk.idle) {
    Eight factor, summand;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const int c = walk.channel(i);
      const float2 affine = gain_and_lift(what, share.sample, c);
      factor.value[i] = affine.x * inverse[c / size];
      summand.value[i] = affine.y + (offset_of(what, c) - mean[c / size]) * factor.value[i];
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

__global__ void __launch_bounds__(kThreads) backward_kernel(const GroupNormBackward problem) {
  extern __shared__ float4 shared[];
  const GroupNorm& what = problem.what;
  Room room{reinterpret_cast<float*>(shared)};
  float* scratch = room.take(3 * kThreads * kVector);
  float* partial = room.take(3 * what.channels);
  float* sums = room.take(3 * what.channels);  // of dL/dh, of dL/dh * n and of n
  float* gains = room.take(what.channels);
  float* lift_mean = room.take(what.groups);  // of dL/dn
  float* gain_mean = room.take(what.groups);  // of dL/dn * n
  const float* lift_sums = sums;
  const float* gain_sums = sums + what.channels;
  const float* n_sums = sums + 2 * what.channels;
  const Team team;
  const Walk walk(what.channels, kThreads);
  const Share share(what, team, walk);
  const int size = what.channels / what.groups;
  const float* means = problem.mean + share.sample * what.groups;
  const float* inverses = problem.inverse + share.sample * what.groups;

  Eight centre{}, inverse{}, gain{}, lift{};
  if (!walk.idle)
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const int c = walk.channel(i);
      const float2 affine = gain_and_lift(what, share.sample, c);
      gain.value[i] = affine.x;
      lift.value[i] = affine.y;
      centre.value[i] = means[c / size] - offset_of(what, c);
      inverse.value[i] = inverses[c / size];
      if (walk.row == 0) gains[c] = affine.x;
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

  Eight sum[3] = {};
  if (!walk.idle)
#pragma unroll 2
    for (int p = share.first + walk.row; p < share.last; p += walk.rows) {
      Eight n, dh;
      look(p, n, dh);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        sum[0].value[i] += dh.value[i];
        sum[1].value[i] += dh.value[i] * n.value[i];
        sum[2].value[i] += n.value[i];
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
  if (team.rank() == 0)
    for (int c = static_cast<int>(threadIdx.x); c < what.channels; c += kThreads) {
      const int group = c / size;
      const int64_t place = share.sample * what.channels + c;
      problem.d_lift[place] = lift_sums[c];
      problem.d_gain[place] = gain_sums[c];
      problem.d_offset[place] =
          inverses[group] *
          (gains[c] * lift_sums[c] - positions * lift_mean[group] - n_sums[c] * gain_mean[group]);
    }

  if (!walk.idle)
#pragma unroll 2
    for (int p = share.first + walk.row; p < share.last; p += walk.rows) {
      Eight n, dh, dx;
      look(p, n, dh);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        const int group = walk.channel(i) / size;
        dx.value[i] = inverse.value[i] * (dh.value[i] * gain.value[i] - lift_mean[group] -
                                          n.value[i] * gain_mean[group]);
      }
      store(problem.dx, share.base + int64_t{p} * walk.vectors, dx);
    }
  team.sync();
}

void check(const GroupNorm& what) {
  if (what.channels % kVector != 0 || what.channels > kMaxChannels ||
      what.channels % what.groups != 0)
    throw std::runtime_error("group_norm: " + std::to_string(what.channels) + " channels in " +
                             std::to_string(what.groups) + " groups are not supported");
}

// A kernel that adds up `sums` kinds of values of every channel.
template <class Problem>
void launch_for(const char* name, void (*kernel)(Problem), const Problem& problem, int sums,
                void* stream) {
  const GroupNorm& what = problem.what;
  if (what.samples == 0) return;
  check(what);
  int size = 1;
  if (has_clusters(kernel)) {
    const int64_t bytes = int64_t{2} * what.positions * what.channels;
    while (size < kMaxTeam && bytes > size * kBytesOfBlock) size *= 2;
  }
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
  launch_for("group_norm_backward", backward_kernel, problem, /*sums=*/3, stream);
}

}  // namespace tessera::kernels::cuda
