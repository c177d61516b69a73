#include "kernels/exit_ratio.h"

#include <cmath>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/score_tiles.cuh"

namespace tessera::kernels::cuda {
namespace {

// Rows are processed in pieces of this size, which bounds the scratch memory.
constexpr int64_t kPieceRows = int64_t{1} << 19;
constexpr int kWarpsPerBlock = kThreads / 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

// What the walk needs to know about a path: f(x0, I), f(eps, I) and the two thresholds. If the
// result is known beforehand, the scores are NaN. Every comparison with NaN is false, so the result
// never changes.
struct alignas(16) OwnScores {
  float score, noise, tiny_a, tiny_b;
};

struct Scratch {
  float* largest_norm;       // max_j |E_j|
  OwnScores* own;            // [piece]
  unsigned long long* keys;  // [piece] score and label of the best code so far
};

constexpr std::size_t kHeaderBytes = 256;
static_assert(kHeaderBytes + kPieceRows * (sizeof(OwnScores) + sizeof(unsigned long long)) <=
              kScratchLimit);

Scratch divide(void* scratch, int64_t n) {
  char* const own = static_cast<char*>(scratch) + kHeaderBytes;
  char* const keys = own + std::min(n, kPieceRows) * sizeof(OwnScores);
  return {static_cast<float*>(scratch), reinterpret_cast<OwnScores*>(own),
          reinterpret_cast<unsigned long long*>(keys)};
}

// Maps floats to unsigned integers of the same order, for atomicMax. -0 becomes +0.
__device__ uint32_t ordered(float value) {
  const uint32_t bits = __float_as_uint(value + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float from_ordered(uint32_t bits) {
  return __uint_as_float(bits & 0x80000000u ? bits & 0x7FFFFFFFu : ~bits);
}

__device__ float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, 1));
  return fmaxf(value, __shfl_xor_sync(kAllLanes, value, 2));
}

__device__ unsigned long long quad_max(unsigned long long value) {
  value = max(value, __shfl_xor_sync(kAllLanes, value, 1));
  return max(value, __shfl_xor_sync(kAllLanes, value, 2));
}

// a . b, by a whole warp.
__device__ double warp_dot(const float* a, const float* b, int64_t d) {
  double sum = 0.0;
  for (int64_t i = threadIdx.x % 32; i < d; i += 32) sum += double{a[i]} * double{b[i]};
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  return sum;
}

__device__ int64_t first_warp() {
  return (int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
}

__device__ int64_t all_warps() {
  return int64_t{gridDim.x} * kWarpsPerBlock;
}

// largest_norm starts at 0. Non-negative floats have the same order as their bits.
__global__ void largest_norm_kernel(const float* codes, int64_t k, int64_t d, float* largest_norm) {
  float largest = 0.0f;
  for (int64_t j = first_warp(); j < k; j += all_warps()) {
    const float* const code = codes + j * d;
    largest = fmaxf(largest, static_cast<float>(sqrt(warp_dot(code, code, d))));
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(reinterpret_cast<unsigned*>(largest_norm), __float_as_uint(largest));
  }
}

struct Preparation {
  const float *x0, *eps, *codes;
  int64_t n, k, d;
  const int64_t* labels;
  const float* largest_norm;
  OwnScores* own;
  uint32_t* ratio;  // ordered
  bool* outside;
};

__global__ void prepare_kernel(const Preparation problem) {
  const int64_t d = problem.d;
  const double unit = 1e-6 * double{*problem.largest_norm};
  for (int64_t i = first_warp(); i < problem.n; i += all_warps()) {
    const float* const x0 = problem.x0 + i * d;
    const float* const eps = problem.eps + i * d;
    const int64_t label = problem.labels[i];
    OwnScores own{NAN, NAN, 0.0f, 0.0f};
    float ratio = INFINITY;  // no cell
    if (label >= 0 && label < problem.k) {
      const float* const code = problem.codes + label * d;
      own.tiny_a = static_cast<float>(unit * sqrt(warp_dot(x0, x0, d)));
      own.tiny_b = static_cast<float>(unit * sqrt(warp_dot(eps, eps, d)));
      ratio = -INFINITY;
      // If both are zero, so is every a_J and b_J: no J is left to look at.
      if (own.tiny_a > 0.0f || own.tiny_b > 0.0f) {
        own.score = static_cast<float>(warp_dot(x0, code, d));
        own.noise = static_cast<float>(warp_dot(eps, code, d));
      }
    }
    if (threadIdx.x % 32 == 0) {
      problem.own[i] = own;
      problem.ratio[i] = ordered(ratio);
      problem.outside[i] = false;
    }
  }
}

__global__ void finish_ratio_kernel(float* ratio, int64_t n) {
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += stride) {
    ratio[i] = from_ordered(__float_as_uint(ratio[i]));
  }
}

__global__ void finish_labels_kernel(const unsigned long long* keys, int64_t n, int64_t* labels) {
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += stride) {
    labels[i] = ~static_cast<uint32_t>(keys[i]);
  }
}

struct ExitWalk {
  Matrix rows0, rows1;  // x0, eps
  Matrix codes;
  const int64_t* labels;
  const OwnScores* own;
  float guard;  // in units of tiny_a: closer tensor-core scores may be a tie
  bool decode;
  uint32_t* ratio;  // ordered
  bool* outside;
};

// The result of one close pair. settled: no other J can change the row's result.
struct Verdict {
  float ratio;
  bool outside, settled;
};

// Compares the pair (row, J) in double precision.
__device__ Verdict judge(const ExitWalk& problem, int64_t row, int64_t code) {
  const int64_t d = problem.codes.d;
  const float* const x0 = problem.rows0.data + row * d;
  const float* const eps = problem.rows1.data + row * d;
  const float* const own = problem.codes.data + problem.labels[row] * d;
  const float* const other = problem.codes.data + code * d;
  double a = 0.0;
  double b = 0.0;
#pragma unroll 4
  for (int64_t i = 0; i < d; ++i) {
    const double difference = double{own[i]} - double{other[i]};
    a += x0[i] * difference;
    b -= eps[i] * difference;
  }
  // A decoded label has the best score on the tensor cores. A competitor that is better by no more
  // than their error is a tie.
  if (problem.decode) a = fmax(a, 0.0);
  const double tiny_a = problem.own[row].tiny_a;
  if (a < -tiny_a) return {INFINITY, true, true};
  if (a > tiny_a) return {static_cast<float>(b / a), false, false};
  if (b <= problem.own[row].tiny_b) return {-INFINITY, false, false};
  return {INFINITY, false, problem.decode || tiny_a == 0.0};
}

// The exit ratio of a thread's two rows, over the codes the thread sees.
template <class Shape>
class ExitTask {
 public:
  using Problem = ExitWalk;
  static constexpr int kBlockRows = Shape::kRows;
  static constexpr int kRowsBetweenOperands = 0;

  __device__ ExitTask(const ExitWalk& problem, int64_t first_row)
      : problem_(problem), first_row_(first_row + Place<Shape>().first_row()) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) rows_[i] = start(row_index(i));
  }

  __device__ void consume(Scores& scores, const Place<Shape>& place, int64_t first_code) {
    const int64_t code = first_code + place.first_code();
    const int64_t k = problem_.codes.count;
    if (first_code + Shape::kCodes > k) mask_columns(scores, k - code);
    uint32_t close = 0;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      close |= scan(i, scores[0][i / 2], scores[1][i / 2], static_cast<uint32_t>(code))
               << i * kColumns;
    }
    while (close != 0) {
      const int bit = __ffs(close) - 1;
      close &= close - 1;
      const int i = bit / kColumns;
      const int column = bit % kColumns;
      const int64_t row = row_index(i);
      const Verdict verdict = judge(problem_, row, code + column / 2 * 8 + column % 2);
      if (verdict.outside) problem_.outside[row] = true;
      if (verdict.settled) close &= ~(((1u << kColumns) - 1) << i * kColumns);
      take(i, verdict);
    }
  }

  __device__ void finish() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float best = quad_max(rows_[i].best);
      if (threadIdx.x % 4 == 0 && best > -INFINITY) {
        atomicMax(problem_.ratio + row_index(i), ordered(best));
      }
    }
  }

 private:
  static constexpr int kRows = kWarpRows / 8;
  static constexpr int kColumns = kWarpCodes / 4;
  static_assert(kRows * kColumns == 32);  // one bit each in the result of scan()

  struct Row {
    float own_score, own_noise;
    float limit;  // scores of at least this are close to own_score, or above it
    float best;
    uint32_t label;
  };

  __device__ int64_t row_index(int i) const {
    return first_row_ + i * 8;
  }

  __device__ Row start(int64_t row) const {
    if (row >= problem_.rows0.count) return {NAN, NAN, NAN, NAN, 0};
    const OwnScores own = problem_.own[row];
    const bool settled = isnan(own.score) || isnan(own.noise);
    return {own.score, own.noise, own.score - problem_.guard * own.tiny_a,
            settled ? NAN : -INFINITY, static_cast<uint32_t>(problem_.labels[row])};
  }

  // Compares row i with its codes of a tile and returns the close ones, one bit each. With
  // a = own_score - s, b = r - own_noise and a > 0: b / a > best exactly if
  // best s + r > best own_score + own_noise. This takes two instructions per pair, and better
  // ratios become rarer and rarer.
  __device__ uint32_t scan(int i, const float (&scores)[kWarpCodes / 8][4],
                           const float (&noises)[kWarpCodes / 8][4], uint32_t code) {
    Row& row = rows_[i];
    const bool finite = fabsf(row.best) < INFINITY;
    const float slope = finite ? row.best : 0.0f;
    const float level = finite ? fmaf(row.best, row.own_score, row.own_noise) : row.best;
    bool better = false;
    bool close = false;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float score = scores[c / 2][i % 2 * 2 + c % 2];
      const float noise = noises[c / 2][i % 2 * 2 + c % 2];
      better |= fmaf(slope, score, noise) > level;
      close |= score >= row.limit;
    }
    if (__any_sync(kAllLanes, better)) {
      if (better) row.best = fmaxf(row.best, best_ratio(row, i, scores, noises));
      row.best = quad_max(row.best);
    }
    return close ? close_codes(i, scores, code) : 0;
  }

  // The best ratio over the codes that are not close.
  __device__ static float best_ratio(const Row& row, int i,
                                     const float (&scores)[kWarpCodes / 8][4],
                                     const float (&noises)[kWarpCodes / 8][4]) {
    float best = -INFINITY;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float score = scores[c / 2][i % 2 * 2 + c % 2];
      const float noise = noises[c / 2][i % 2 * 2 + c % 2];
      const float ratio = __fdividef(noise - row.own_noise, row.own_score - score);
      best = fmaxf(best, score < row.limit ? ratio : -INFINITY);
    }
    return best;
  }

  // The codes that judge() must compare, one bit each.
  __device__ uint32_t close_codes(int i, const float (&scores)[kWarpCodes / 8][4], uint32_t code) {
    const Row& row = rows_[i];
    uint32_t close = 0;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float score = scores[c / 2][i % 2 * 2 + c % 2];
      if (!(score >= row.limit) || code + c / 2 * 8 + c % 2 == row.label) continue;
      if (is_beyond(row, score)) {
        problem_.outside[row_index(i)] = true;
        take(i, {INFINITY, true, true});
      } else {
        close |= 1u << c;
      }
    }
    return close;
  }

  // The score is above own_score by more than its error: the row is outside, without judge().
  __device__ bool is_beyond(const Row& row, float score) const {
    return !problem_.decode && score - row.own_score > row.own_score - row.limit;
  }

  __device__ void take(int row, const Verdict& verdict) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (i != row) continue;
      rows_[i].best = fmaxf(rows_[i].best, verdict.ratio);
      if (verdict.settled) rows_[i].limit = INFINITY;
    }
  }

  const ExitWalk& problem_;
  const int64_t first_row_;
  Row rows_[kRows];
};

struct ArgmaxWalk {
  Matrix rows0, rows1;  // both x: operand 1 is the next Shape::kRows rows
  Matrix codes;
  unsigned long long* keys;
};

// The best code of a thread's four rows, among the codes it sees.
template <class Shape>
class ArgmaxTask {
 public:
  using Problem = ArgmaxWalk;
  static constexpr int kBlockRows = 2 * Shape::kRows;
  static constexpr int kRowsBetweenOperands = Shape::kRows;

  __device__ ArgmaxTask(const ArgmaxWalk& problem, int64_t first_row)
      : problem_(problem), first_row_(first_row + Place<Shape>().first_row()) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      best_[i] = -INFINITY;
      label_[i] = 0;
    }
  }

  __device__ void consume(Scores& scores, const Place<Shape>& place, int64_t first_code) {
    const int64_t code = first_code + place.first_code();
    const int64_t k = problem_.codes.count;
    if (first_code + Shape::kCodes > k) mask_columns(scores, k - code);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      scan(i, scores[i / kOperandRows][i % kOperandRows / 2], static_cast<uint32_t>(code));
    }
  }

  __device__ void finish() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const unsigned long long key = quad_max(key_of(best_[i], label_[i]));
      const int64_t row = first_row_ + i / kOperandRows * Shape::kRows + i % kOperandRows * 8;
      if (threadIdx.x % 4 == 0 && row < problem_.rows0.count) atomicMax(problem_.keys + row, key);
    }
  }

 private:
  static constexpr int kOperandRows = kWarpRows / 8;
  static constexpr int kRows = 2 * kOperandRows;
  static constexpr int kColumns = kWarpCodes / 4;

  // The larger score wins, then the lower label.
  __device__ static unsigned long long key_of(float score, uint32_t label) {
    return static_cast<unsigned long long>(ordered(score)) << 32 | ~label;
  }

  // Codes come in ascending order: a later one must be better, not equal.
  __device__ void scan(int i, const float (&scores)[kWarpCodes / 8][4], uint32_t code) {
    bool hit = false;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) hit |= scores[c / 2][i % 2 * 2 + c % 2] > best_[i];
    if (!hit) return;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float score = scores[c / 2][i % 2 * 2 + c % 2];
      if (score > best_[i]) {
        best_[i] = score;
        label_[i] = code + c / 2 * 8 + c % 2;
      }
    }
  }

  const ArgmaxWalk& problem_;
  const int64_t first_row_;
  float best_[kRows];
  uint32_t label_[kRows];
};

template <class Shape, class Task>
__global__ void __launch_bounds__(kThreads, 1)
    walk_kernel(const __grid_constant__ typename Task::Problem problem) {
  extern __shared__ __align__(1024) uint16_t shared[];
  __shared__ SplitBarrier barrier;
  ScoreTiles<Shape> tiles(problem.rows0, problem.rows1, problem.codes, shared, &barrier);
  const int64_t row_blocks = (problem.rows0.count + Task::kBlockRows - 1) / Task::kBlockRows;
  const int64_t code_tiles = (problem.codes.count + Shape::kCodes - 1) / Shape::kCodes;
  const int64_t units = row_blocks * code_tiles;
  int64_t unit = units * blockIdx.x / gridDim.x;
  const int64_t end = units * (blockIdx.x + 1) / gridDim.x;
  while (unit < end) {
    const int64_t first_row = unit / code_tiles * Task::kBlockRows;
    const int64_t first_tile = unit % code_tiles;
    const int64_t count = min(end - unit, code_tiles - first_tile);
    Task task(problem, first_row);
    tiles.walk({first_row, first_row + Task::kRowsBetweenOperands}, first_tile, count, task);
    task.finish();
    unit += count;
  }
}

template <class Shape, template <class> class Task, class Problem>
void launch_shape(const char* name, const Problem& problem, void* stream) {
  const int64_t units = ceil_div(problem.rows0.count, Task<Shape>::kBlockRows) *
                        ceil_div(problem.codes.count, Shape::kCodes);
  launch(name, walk_kernel<Shape, Task<Shape>>, std::min<int64_t>(units, multiprocessors()),
         kThreads, Shape::kSharedBytes, stream, problem);
}

// problem: at least one row and one code.
template <template <class> class Task, class Problem>
void launch_walk(const char* name, const Problem& problem, void* stream) {
  const int64_t d = problem.codes.d;
  if (d <= 8) {
    launch_shape<Shape<128, 64, 16, true, Arithmetic::plain>, Task>(name, problem, stream);
  } else if (d <= 64) {
    launch_shape<Shape<128, 64, 64, true, Arithmetic::split>, Task>(name, problem, stream);
  } else if (d <= 128) {
    launch_shape<Shape<128, 64, 128, true, Arithmetic::split>, Task>(name, problem, stream);
  } else {
    launch_shape<Shape<64, 128, 64, false, Arithmetic::split>, Task>(name, problem, stream);
  }
}

Matrix matrix(const float* data, int64_t count, int64_t d) {
  return {data, count, d, d % 4 == 0 && is_aligned(data)};
}

int64_t warp_grid(int64_t items) {
  return stride_grid(items, kWarpsPerBlock);
}

void argmax_piece(const ArgmaxScore& piece, const Scratch& scratch, void* stream) {
  fill_bytes("argmax_score", scratch.keys, 0, piece.n * sizeof(*scratch.keys), stream);
  const Matrix x = matrix(piece.x, piece.n, piece.d);
  const ArgmaxWalk walk{x, x, matrix(piece.codes, piece.k, piece.d), scratch.keys};
  launch_walk<ArgmaxTask>("argmax_score", walk, stream);
  launch("argmax_score (labels)", finish_labels_kernel, stride_grid(piece.n, kThreads), kThreads, 0,
         stream, scratch.keys, piece.n, piece.labels);
}

void exit_piece(const ExitRatio& piece, const Scratch& scratch, void* stream) {
  uint32_t* const ratio = reinterpret_cast<uint32_t*>(piece.ratio);
  const Preparation preparation{piece.x0,    piece.eps, piece.codes,  piece.n,
                                piece.k,     piece.d,   piece.labels, scratch.largest_norm,
                                scratch.own, ratio,     piece.outside};
  launch("exit_ratio (preparation)", prepare_kernel, warp_grid(piece.n), kThreads, 0, stream,
         preparation);
  // The worst error of a score, in units of 1e-6 |x| |E|, is 12 from the split and 0.6 from each of
  // the 3 d / 16 truncating additions. The rest of the guard keeps the error of b / a small.
  const float guard = 128.0f + 0.125f * static_cast<float>(piece.d);
  const ExitWalk walk{matrix(piece.x0, piece.n, piece.d),
                      matrix(piece.eps, piece.n, piece.d),
                      matrix(piece.codes, piece.k, piece.d),
                      piece.labels,
                      scratch.own,
                      guard,
                      piece.decode,
                      ratio,
                      piece.outside};
  if (piece.k > 0) launch_walk<ExitTask>("exit_ratio", walk, stream);
  launch("exit_ratio (decoding)", finish_ratio_kernel, stride_grid(piece.n, kThreads), kThreads, 0,
         stream, piece.ratio, piece.n);
}

ExitRatio piece_of(const ExitRatio& problem, int64_t first, int64_t rows) {
  ExitRatio piece = problem;
  piece.x0 += first * problem.d;
  piece.eps += first * problem.d;
  piece.n = rows;
  piece.labels += first;
  piece.ratio += first;
  piece.outside += first;
  return piece;
}

}  // namespace

std::size_t scratch_bytes(int64_t n, int64_t, int64_t) {
  return kHeaderBytes + std::min(n, kPieceRows) * (sizeof(OwnScores) + sizeof(unsigned long long));
}

void exit_ratio(const ExitRatio& problem, void* scratch, void* stream) {
  if (problem.n == 0) return;
  const Scratch parts = divide(scratch, problem.n);
  fill_bytes("exit_ratio", parts.largest_norm, 0, sizeof(float), stream);
  if (problem.k > 0) {
    launch("exit_ratio (norms)", largest_norm_kernel,
           std::min<int64_t>(warp_grid(problem.k), 4 * multiprocessors()), kThreads, 0, stream,
           problem.codes, problem.k, problem.d, parts.largest_norm);
  } else if (problem.decode) {
    fill_bytes("exit_ratio", problem.labels, 0xFF, problem.n * sizeof(int64_t), stream);  // no cell
  }
  for (int64_t first = 0; first < problem.n; first += kPieceRows) {
    const ExitRatio piece = piece_of(problem, first, std::min(kPieceRows, problem.n - first));
    if (piece.decode && piece.k > 0) {
      argmax_piece({piece.x0, piece.codes, piece.n, piece.k, piece.d, piece.labels}, parts, stream);
    }
    exit_piece(piece, parts, stream);
  }
}

void argmax_score(const ArgmaxScore& problem, void* scratch, void* stream) {
  const Scratch parts = divide(scratch, problem.n);
  for (int64_t first = 0; first < problem.n; first += kPieceRows) {
    ArgmaxScore piece = problem;
    piece.x += first * problem.d;
    piece.n = std::min(kPieceRows, problem.n - first);
    piece.labels += first;
    argmax_piece(piece, parts, stream);
  }
}

}  // namespace tessera::kernels::cuda
