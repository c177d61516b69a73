#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/mma.cuh"

// The scores of two sets of rows against a table of codes, tile by tile on the tensor cores, never
// stored: a task (exit_ratio.cu) sees every tile of them in registers.
//
// Precision. A float is split into two bf16, v = high + low; a product is high high + high low +
// low high, summed in float32. What is left out is below 2^-17 |x| |E|, hundreds of times better
// than bf16 and three times the work. The split is made on the way into shared memory: a split
// copy of the table would not fit the scratch limit.
//
// With few dimensions the split's errors do not average out: there plain float32 arithmetic is
// exact enough, and cheap.
//
// Balance. The work units (block of rows, tile of codes) are numbered row block by row block and
// dealt in equal contiguous ranges to one block per multiprocessor. A block then stages its rows
// once or twice only, and no wave of blocks is ever half empty; what ranges of one row find is
// combined by an atomic maximum, which gives the same result in any order.
namespace tessera::kernels::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kWarpRows = 32;  // a warp's share of a tile, of both operands
inline constexpr int kWarpCodes = 32;

enum class Arithmetic { plain, split };  // float32, or products of split floats

// A tile: `rows` rows of each operand by `codes` codes, staged `depth` dimensions at a time.
// resident: all dimensions fit into `depth`, and the rows stay in shared memory.
template <int rows, int codes, int depth, bool resident, Arithmetic arithmetic>
struct Shape {
  static constexpr int kRows = rows;
  static constexpr int kCodes = codes;
  static constexpr int kDepth = depth;
  static constexpr bool kResident = resident;
  static constexpr bool kSplit = arithmetic == Arithmetic::split;

  // Planes hold bf16; a pair of them is one plane of floats in plain arithmetic.
  static constexpr int kStride = depth + 8;  // 16 bytes more: ldmatrix meets no bank twice
  static constexpr int kRowPlane = rows * kStride;
  static constexpr int kCodePlane = codes * kStride;
  static constexpr int kRowBuffer = 4 * kRowPlane;    // operand 0 high, low, operand 1 high, low
  static constexpr int kCodeBuffer = 2 * kCodePlane;  // high, low
  static constexpr int kRowBuffers = resident ? 1 : 2;
  static constexpr int kCodeBuffers = 2;
  static constexpr int kSharedBytes =
      (kRowBuffers * kRowBuffer + kCodeBuffers * kCodeBuffer) * int{sizeof(uint16_t)};

  static_assert((rows / kWarpRows) * (codes / kWarpCodes) * 32 == kThreads);
  static_assert(depth % 16 == 0 && kSharedBytes <= 227 * 1024);
};

// A matrix [count, d]; aligned: every row starts at a multiple of 16 bytes.
struct Matrix {
  const float* data;
  int64_t count, d;
  bool aligned;
};

// Where a thread's part of a tile lies: element (operand, m, c, e) of Scores is operand `operand`,
// row first_row + 16 m + 8 (e / 2), code first_code + 8 c + e % 2 of the tile.
template <class Shape>
struct Place {
  int warp_row, warp_code, lane;

  __device__ Place()
      : warp_row(static_cast<int>(threadIdx.x) / 32 % (Shape::kRows / kWarpRows) * kWarpRows),
        warp_code(static_cast<int>(threadIdx.x) / 32 / (Shape::kRows / kWarpRows) * kWarpCodes),
        lane(static_cast<int>(threadIdx.x) % 32) {}
  __device__ int first_row() const { return warp_row + lane / 4; }
  __device__ int first_code() const { return warp_code + lane % 4 * 2; }
};

using Scores = float[2][kWarpRows / 16][kWarpCodes / 8][4];

__device__ inline void clear(Scores& scores) {
#pragma unroll
  for (int operand = 0; operand < 2; ++operand) {
#pragma unroll
    for (int m = 0; m < kWarpRows / 16; ++m) {
#pragma unroll
      for (int c = 0; c < kWarpCodes / 8; ++c) {
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[operand][m][c][e] = 0.0f;
      }
    }
  }
}

// Columns at or beyond `valid` (counted from the thread's first code) score -infinity.
__device__ inline void mask_columns(Scores& scores, int64_t valid) {
#pragma unroll
  for (int operand = 0; operand < 2; ++operand) {
#pragma unroll
    for (int m = 0; m < kWarpRows / 16; ++m) {
#pragma unroll
      for (int c = 0; c < kWarpCodes / 8; ++c) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (8 * c + e % 2 >= valid) scores[operand][m][c][e] = -INFINITY;
        }
      }
    }
  }
}

// A thread's part of `vectors` x `depth` floats on their way from a matrix to shared memory.
template <int vectors, int depth>
class Stage {
 public:
  // Vectors from `first` on, dimensions from `dimension` on; zeros beyond the matrix.
  __device__ void load(const Matrix& matrix, int64_t first, int64_t dimension) {
    if (matrix.aligned) {
#pragma unroll
      for (int i = 0; i < kQuads; ++i) {
        const int64_t row = first + vector(i);
        const int64_t column = dimension + offset(i);
        quads_[i] =
            row < matrix.count && column < matrix.d
                ? __ldg(reinterpret_cast<const float4*>(matrix.data + row * matrix.d + column))
                : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kQuads; ++i) {
        const int64_t row = first + vector(i);
        const int64_t left = row < matrix.count ? matrix.d - dimension - offset(i) : 0;
        const float* const source = matrix.data + row * matrix.d + dimension + offset(i);
        quads_[i].x = left > 0 ? __ldg(source) : 0.0f;
        quads_[i].y = left > 1 ? __ldg(source + 1) : 0.0f;
        quads_[i].z = left > 2 ? __ldg(source + 2) : 0.0f;
        quads_[i].w = left > 3 ? __ldg(source + 3) : 0.0f;
      }
    }
  }

  __device__ void store(uint16_t* high, uint16_t* low) const {
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      const float4 quad = quads_[i];
      const uint2 rounded = make_uint2(pack_bf16(quad.x, quad.y), pack_bf16(quad.z, quad.w));
      const uint2 rest =
          make_uint2(remainder(quad.x, quad.y, rounded.x), remainder(quad.z, quad.w, rounded.y));
      *reinterpret_cast<uint2*>(high + position(i)) = rounded;
      *reinterpret_cast<uint2*>(low + position(i)) = rest;
    }
  }

  __device__ void store(float* plane) const {
#pragma unroll
    for (int i = 0; i < kQuads; ++i) *reinterpret_cast<float4*>(plane + position(i)) = quads_[i];
  }

 private:
  static constexpr int kQuads = vectors * depth / 4 / kThreads;
  static_assert(kQuads * 4 * kThreads == vectors * depth);

  __device__ static int vector(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) / (depth / 4);
  }
  __device__ static int offset(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) % (depth / 4) * 4;
  }
  __device__ static int position(int i) {
    return vector(i) * (depth + 8) + offset(i);
  }
  __device__ static uint32_t remainder(float first, float second, uint32_t rounded) {
    return pack_bf16(first - __uint_as_float(rounded << 16),
                     second - __uint_as_float(rounded & 0xFFFF0000u));
  }

  float4 quads_[kQuads];
};

template <class Shape>
class ScoreTiles {
 public:
  // shared: Shape::kSharedBytes bytes, 16-byte aligned.
  __device__ ScoreTiles(const Matrix& rows0, const Matrix& rows1, const Matrix& codes,
                        uint16_t* shared)
      : rows0_(rows0),
        rows1_(rows1),
        codes_(codes),
        row_planes_(shared),
        code_planes_(shared + Shape::kRowBuffers * Shape::kRowBuffer) {}

  // Shows tiles [first_tile, first_tile + tiles) of the codes, in order, to task.consume(scores,
  // place, first code of the tile). Operand i starts at row first_row[i]. For the whole block.
  template <class Task>
  __device__ void walk(const int64_t (&first_row)[2], int64_t first_tile, int64_t tiles,
                       Task& task) {
    const Place<Shape> place;
    const int64_t chunks = Shape::kResident ? 1 : (codes_.d + Shape::kDepth - 1) / Shape::kDepth;
    const int64_t steps = tiles * chunks;
    if constexpr (Shape::kResident) stage_resident_rows(first_row);

    Fetch fetch;
    load(fetch, first_row, first_tile, 0);
    store(fetch, 0);
    __syncthreads();

    // While a step is multiplied from one buffer the next is on its way to the other, first into
    // registers; the barrier at the end of a step covers both.
    Scores scores;
    clear(scores);
    int64_t tile = first_tile;
    int64_t chunk = 0;
    for (int64_t step = 0; step < steps; ++step) {
      const bool last_chunk = chunk + 1 == chunks;
      const int64_t next_tile = last_chunk ? tile + 1 : tile;
      const int64_t next_chunk = last_chunk ? 0 : chunk + 1;
      const bool more = step + 1 < steps;
      const int buffer = static_cast<int>(step & 1);
      if (more) load(fetch, first_row, next_tile, next_chunk);
      multiply(place, buffer, scores);
      if (more) store(fetch, buffer ^ 1);
      if (last_chunk) {
        task.consume(scores, place, tile * Shape::kCodes);
        clear(scores);
      }
      tile = next_tile;
      chunk = next_chunk;
      __syncthreads();
    }
  }

 private:
  struct RowFetch {
    Stage<Shape::kRows, Shape::kDepth> rows0, rows1;
  };
  struct NoFetch {};
  struct Fetch {
    Stage<Shape::kCodes, Shape::kDepth> codes;
    std::conditional_t<Shape::kResident, NoFetch, RowFetch> rows;
  };

  __device__ void stage_resident_rows(const int64_t (&first_row)[2]) {
    Stage<Shape::kRows, Shape::kDepth> stage;
    stage.load(rows0_, first_row[0], 0);
    put<Shape::kRowPlane>(stage, row_planes_);
    stage.load(rows1_, first_row[1], 0);
    put<Shape::kRowPlane>(stage, row_planes_ + 2 * Shape::kRowPlane);
  }

  // To a pair of planes.
  template <int plane, class Part>
  __device__ static void put(const Part& part, uint16_t* planes) {
    if constexpr (Shape::kSplit) {
      part.store(planes, planes + plane);
    } else {
      part.store(reinterpret_cast<float*>(planes));
    }
  }

  __device__ void load(Fetch& fetch, const int64_t (&first_row)[2], int64_t tile, int64_t chunk) {
    const int64_t dimension = chunk * Shape::kDepth;
    fetch.codes.load(codes_, tile * Shape::kCodes, dimension);
    if constexpr (!Shape::kResident) {
      fetch.rows.rows0.load(rows0_, first_row[0], dimension);
      fetch.rows.rows1.load(rows1_, first_row[1], dimension);
    }
  }

  __device__ void store(const Fetch& fetch, int buffer) {
    put<Shape::kCodePlane>(fetch.codes, code_planes_ + buffer * Shape::kCodeBuffer);
    if constexpr (!Shape::kResident) {
      uint16_t* const rows = row_planes_ + buffer * Shape::kRowBuffer;
      put<Shape::kRowPlane>(fetch.rows.rows0, rows);
      put<Shape::kRowPlane>(fetch.rows.rows1, rows + 2 * Shape::kRowPlane);
    }
  }

  // scores += the buffer's dimensions of both operands times the codes'.
  __device__ void multiply(const Place<Shape>& place, int buffer, Scores& scores) const {
    if constexpr (Shape::kSplit) {
      multiply_split(place, buffer, scores);
    } else {
      multiply_plain(place, buffer, scores);
    }
  }

  __device__ void multiply_plain(const Place<Shape>& place, int buffer, Scores& scores) const {
    static_assert(Shape::kSplit || Shape::kResident);
    const float* const rows =
        reinterpret_cast<const float*>(row_planes_) + place.first_row() * Shape::kStride;
    const float* const codes =
        reinterpret_cast<const float*>(code_planes_ + buffer * Shape::kCodeBuffer) +
        place.first_code() * Shape::kStride;
    const int d = static_cast<int>(codes_.d);
    for (int dimension = 0; dimension < d; ++dimension) {
      float code[kWarpCodes / 4];
#pragma unroll
      for (int c = 0; c < kWarpCodes / 4; ++c) {
        code[c] = codes[(c / 2 * 8 + c % 2) * Shape::kStride + dimension];
      }
#pragma unroll
      for (int operand = 0; operand < 2; ++operand) {
#pragma unroll
        for (int r = 0; r < kWarpRows / 8; ++r) {
          const float row = rows[operand * Shape::kRowPlane + r * 8 * Shape::kStride + dimension];
#pragma unroll
          for (int c = 0; c < kWarpCodes / 4; ++c) {
            float& sum = scores[operand][r / 2][c / 2][r % 2 * 2 + c % 2];
            sum = fmaf(row, code[c], sum);
          }
        }
      }
    }
  }

  __device__ void multiply_split(const Place<Shape>& place, int buffer, Scores& scores) const {
    // Matrices of ldmatrix: for rows (rows 0-7, 8-15) x (dimensions 0-7, then 8-15); for codes
    // (dimensions 0-7, 8-15) x (codes 0-7, then 8-15), which are b of two neighbouring products.
    const int lane = place.lane;
    const int row = place.warp_row + lane % 16;
    const int code = place.warp_code + lane % 8 + lane / 16 * 8;
    const uint16_t* const rows = row_planes_ + (Shape::kResident ? 0 : buffer * Shape::kRowBuffer) +
                                 row * Shape::kStride + lane / 16 * 8;
    const uint16_t* const codes =
        code_planes_ + buffer * Shape::kCodeBuffer + code * Shape::kStride + lane / 8 % 2 * 8;
    const uint32_t row_address = shared_address(rows);
    const uint32_t code_address = shared_address(codes);
#pragma unroll
    for (int dimension = 0; dimension < Shape::kDepth; dimension += 16) {
      uint32_t code_high[kWarpCodes / 16][4];
      uint32_t code_low[kWarpCodes / 16][4];
#pragma unroll
      for (int pair = 0; pair < kWarpCodes / 16; ++pair) {
        const uint32_t address = code_address + bytes(pair * 16 * Shape::kStride + dimension);
        load_matrices(address, code_high[pair]);
        load_matrices(address + bytes(Shape::kCodePlane), code_low[pair]);
      }
#pragma unroll
      for (int operand = 0; operand < 2; ++operand) {
        uint32_t row_high[kWarpRows / 16][4];
        uint32_t row_low[kWarpRows / 16][4];
#pragma unroll
        for (int m = 0; m < kWarpRows / 16; ++m) {
          const uint32_t address = row_address + bytes(operand * 2 * Shape::kRowPlane +
                                                       m * 16 * Shape::kStride + dimension);
          load_matrices(address, row_high[m]);
          load_matrices(address + bytes(Shape::kRowPlane), row_low[m]);
        }
        accumulate(scores[operand], row_high, code_low);
        accumulate(scores[operand], row_low, code_high);
        accumulate(scores[operand], row_high, code_high);
      }
    }
  }

  __device__ static constexpr uint32_t bytes(int elements) {
    return static_cast<uint32_t>(elements) * uint32_t{sizeof(uint16_t)};
  }

  __device__ static void accumulate(float (&scores)[kWarpRows / 16][kWarpCodes / 8][4],
                                    const uint32_t (&rows)[kWarpRows / 16][4],
                                    const uint32_t (&codes)[kWarpCodes / 16][4]) {
#pragma unroll
    for (int m = 0; m < kWarpRows / 16; ++m) {
#pragma unroll
      for (int c = 0; c < kWarpCodes / 8; ++c) {
        multiply_add(scores[m][c], rows[m], codes[c / 2][c % 2 * 2], codes[c / 2][c % 2 * 2 + 1]);
      }
    }
  }

  const Matrix& rows0_;
  const Matrix& rows1_;
  const Matrix& codes_;
  uint16_t* const row_planes_;
  uint16_t* const code_planes_;
};

}  // namespace tessera::kernels::cuda
