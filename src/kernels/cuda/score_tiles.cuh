#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/barrier.cuh"
#include "kernels/cuda/mma.cuh"

// The scores of two sets of rows with a table of codes, computed tile by tile on the tensor cores
// and never stored: a task (exit_ratio.cu) sees every tile in registers.
//
// Precision. A float is split into two bf16, v = high + low. A product is high high + high low +
// low high, summed in float32. The error is below 2^-17 |x| |E|: hundreds of times better than
// bf16, for three times the work. Values are split on the way into shared memory, because a split
// copy of the table would exceed the scratch limit.
//
// With few dimensions the errors of the split do not average out. Plain float32 arithmetic is used
// there: it is exact enough, and cheap.
//
// Speed. On Hopper, products run beside the code that started them: meanwhile the warpgroup splits
// and stores the next operands. Its consume() is hidden by the products of the other warpgroup,
// which may be up to a step behind. So the tensor cores limit the speed.
//
// Balance. The work units (block of rows, tile of codes) are numbered one row block after the
// other, and split into equal contiguous ranges, one per multiprocessor. So a block loads its rows
// only once or twice, and no wave of blocks is half empty. Ranges that share a row combine their
// results by an atomic maximum, which does not depend on the order.
namespace tessera::kernels::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kWarpRows = 16;  // a warp's share of a tile, of both operands
inline constexpr int kWarpCodes = 64;
inline constexpr int kWarpgroupRows = 4 * kWarpRows;
inline constexpr int kPanel = 64;  // dimensions stored together: 128 bytes of bf16

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

  // Split: planes of bf16, stored as panels of kPanel dimensions each. Plain: a pair of planes is
  // one plane of floats, whose vectors are padded.
  static constexpr int kStride = kSplit ? depth : depth + 8;
  static constexpr int kRowPlane = rows * kStride;
  static constexpr int kCodePlane = codes * kStride;
  static constexpr int kRowBuffer = 4 * kRowPlane;    // operand 0 high, low, operand 1 high, low
  static constexpr int kCodeBuffer = 2 * kCodePlane;  // high, low
  static constexpr int kBuffers = 3;  // one is multiplied, one is ready, one is being loaded
  static constexpr int kRowBuffers = resident ? 1 : kBuffers;
  static constexpr int kSharedBytes =
      (kRowBuffers * kRowBuffer + kBuffers * kCodeBuffer) * int{sizeof(uint16_t)};

  static_assert((rows / kWarpRows) * (codes / kWarpCodes) * 32 == kThreads);
  static_assert(!kSplit || depth % kPanel == 0);
  static_assert(!kSplit || rows % kWarpgroupRows == 0);
  static_assert(kSharedBytes <= 226 * 1024);  // of 227 KiB: the rest is for barrier, alignment
};

// Where a plane of split floats stores a dimension (a multiple of 4) of a vector. The 16-byte
// pieces of 8 successive vectors are permuted so that reading one dimension of all 8 causes no bank
// conflicts. describe() in mma.cuh describes this order.
template <int vectors>
__device__ constexpr int swizzled(int vector, int dimension) {
  const int piece = dimension % kPanel / 8 ^ vector % 8;
  return (dimension / kPanel * vectors + vector) * kPanel + piece * 8 + dimension % 8;
}

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

// Tells the compiler that the scores change here: it does not know which products are still
// running.
__device__ inline void keep_behind(Scores& scores) {
#pragma unroll
  for (int operand = 0; operand < 2; ++operand) {
#pragma unroll
    for (int c = 0; c < kWarpCodes / 8; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(scores[operand][0][c][e])::"memory");
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

// A thread's part of `vectors` x `depth` floats, on their way from a matrix to shared memory: four
// dimensions of every kStep-th vector.
template <int vectors, int depth>
class Stage {
 public:
  // Vectors from `first` on, dimensions from `dimension` on; zeros outside the matrix.
  __device__ void load(const Matrix& matrix, int64_t first, int64_t dimension) {
    const int64_t row = first + vector();
    const int64_t column = dimension + offset();
    if (matrix.aligned) {
      load<load_aligned>(matrix, row, column);
    } else {
      load<load_single>(matrix, row, column);
    }
  }

  __device__ void store(uint16_t* high, uint16_t* low) const {
    static_assert(kStep % 8 == 0);  // vectors kStep apart have the same permutation
    const int position = swizzled<vectors>(vector(), offset());
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      const float4 quad = quads_[i];
      const uint2 rounded = make_uint2(pack_bf16(quad.x, quad.y), pack_bf16(quad.z, quad.w));
      const uint2 rest =
          make_uint2(remainder(quad.x, quad.y, rounded.x), remainder(quad.z, quad.w, rounded.y));
      *reinterpret_cast<uint2*>(high + position + i * kStep * kPanel) = rounded;
      *reinterpret_cast<uint2*>(low + position + i * kStep * kPanel) = rest;
    }
  }

  __device__ void store(float* plane) const {
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      const int position = (vector() + i * kStep) * (depth + 8) + offset();
      *reinterpret_cast<float4*>(plane + position) = quads_[i];
    }
  }

 private:
  static constexpr int kThreadsPerVector = depth / 4;
  static constexpr int kStep = kThreads / kThreadsPerVector;
  static constexpr int kQuads = vectors / kStep;
  static_assert(kStep * kThreadsPerVector == kThreads && kQuads * kStep == vectors);

  __device__ static int vector() {
    return static_cast<int>(threadIdx.x) / kThreadsPerVector;
  }
  __device__ static int offset() {
    return static_cast<int>(threadIdx.x) % kThreadsPerVector * 4;
  }

  template <float4 (*load_quad)(const float*, int64_t)>
  __device__ void load(const Matrix& matrix, int64_t row, int64_t column) {
    const float* const source = matrix.data + row * matrix.d + column;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      const int64_t left = row + i * kStep < matrix.count ? matrix.d - column : 0;
      quads_[i] = load_quad(source + i * kStep * matrix.d, left);
    }
  }

  // The first `left` of four floats, then zeros.
  __device__ static float4 load_single(const float* source, int64_t left) {
    return make_float4(left > 0 ? __ldg(source) : 0.0f, left > 1 ? __ldg(source + 1) : 0.0f,
                       left > 2 ? __ldg(source + 2) : 0.0f, left > 3 ? __ldg(source + 3) : 0.0f);
  }

  // The same for a `left` that is a multiple of 4, and an aligned source.
  __device__ static float4 load_aligned(const float* source, int64_t left) {
    return left > 0 ? __ldg(reinterpret_cast<const float4*>(source))
                    : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
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
  // shared: Shape::kSharedBytes bytes, 1,024-byte aligned.
  __device__ ScoreTiles(const Matrix& rows0, const Matrix& rows1, const Matrix& codes,
                        uint16_t* shared, SplitBarrier* barrier)
      : rows0_(rows0),
        rows1_(rows1),
        codes_(codes),
        row_planes_(shared),
        code_planes_(shared + Shape::kRowBuffers * Shape::kRowBuffer),
        barrier_(barrier) {
    barrier->init(kThreads);
  }

  // Passes tiles [first_tile, first_tile + tiles) of the codes, in order, to task.consume(scores,
  // place, first code of the tile). Operand i starts at row first_row[i]. All threads of the block
  // call this.
  template <class Task>
  __device__ void walk(const int64_t (&first_row)[2], int64_t first_tile, int64_t tiles,
                       Task& task) {
    const Place<Shape> place;
    const int64_t chunks = Shape::kResident ? 1 : (codes_.d + Shape::kDepth - 1) / Shape::kDepth;
    const int64_t steps = tiles * chunks;
    if constexpr (Shape::kResident) stage_resident_rows(first_row);

    Fetch fetch;
    Step ahead{first_tile, 0, 0};
    for (int step = 0; step < kStepsAhead && step < steps; ++step) {
      load(fetch, first_row, ahead);
      store(fetch, ahead);
      ahead.advance(chunks);
    }
    __syncthreads();
    RowFragments fragments;
    if constexpr (kRowsInRegisters) load(fragments, place);

    // While a step is multiplied from one buffer, the step after the next is loaded, first into
    // registers, then into another buffer. That buffer is free once all warps have multiplied the
    // previous step. They do not wait for each other's consume(), so it runs beside products of
    // other warps.
    Scores scores;
    Step now{first_tile, 0, 0};
    for (int64_t step = 0; step < steps; ++step) {
      const bool more = step + kStepsAhead < steps;
      if (more) load(fetch, first_row, ahead);
      multiply(place, fragments, now.buffer, now.chunk > 0, scores);
      if (step > 0) barrier_->wait(rounds_++);
      if (more) {
        store(fetch, ahead);
        ahead.advance(chunks);
      }
      finish(scores);
      barrier_->arrive();
      if (now.chunk + 1 == chunks) task.consume(scores, place, now.tile * Shape::kCodes);
      now.advance(chunks);
    }
    barrier_->wait(rounds_++);
  }

 private:
  static constexpr int kStepsAhead = Shape::kBuffers - 1;
  static constexpr bool kByWarpgroups = kHasWarpgroupProducts && Shape::kSplit;
  // Two of the three products need the high part of the rows. Kept in registers, it does not have
  // to be read from shared memory, and the tensor cores do not wait for it.
  static constexpr bool kRowsInRegisters = kByWarpgroups && Shape::kResident;

  struct KeptRows {
    uint32_t high[2][Shape::kDepth / 16][4];
  };
  struct NoRows {};
  using RowFragments = std::conditional_t<kRowsInRegisters, KeptRows, NoRows>;

  // A chunk of a tile, and the buffer that holds it.
  struct Step {
    int64_t tile, chunk;
    int buffer;

    __device__ void advance(int64_t chunks) {
      if (++chunk == chunks) {
        chunk = 0;
        ++tile;
      }
      buffer = buffer + 1 == Shape::kBuffers ? 0 : buffer + 1;
    }
  };

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

  // Stores a part into a pair of planes.
  template <int plane, class Part>
  __device__ static void put(const Part& part, uint16_t* planes) {
    if constexpr (Shape::kSplit) {
      part.store(planes, planes + plane);
    } else {
      part.store(reinterpret_cast<float*>(planes));
    }
  }

  __device__ void load(Fetch& fetch, const int64_t (&first_row)[2], const Step& step) {
    const int64_t dimension = step.chunk * Shape::kDepth;
    fetch.codes.load(codes_, step.tile * Shape::kCodes, dimension);
    if constexpr (!Shape::kResident) {
      fetch.rows.rows0.load(rows0_, first_row[0], dimension);
      fetch.rows.rows1.load(rows1_, first_row[1], dimension);
    }
  }

  __device__ void store(const Fetch& fetch, const Step& step) {
    const int buffer = step.buffer;
    put<Shape::kCodePlane>(fetch.codes, code_buffer(buffer));
    if constexpr (!Shape::kResident) {
      put<Shape::kRowPlane>(fetch.rows.rows0, row_buffer(buffer));
      put<Shape::kRowPlane>(fetch.rows.rows1, row_buffer(buffer) + 2 * Shape::kRowPlane);
    }
    if constexpr (kByWarpgroups) publish_to_products();
  }

  // The buffer's dimensions of both operands times those of the codes, plus scores if `add`. The
  // scores are complete after finish(); until then the tensor cores may still be working on them.
  __device__ void multiply(const Place<Shape>& place, const RowFragments& fragments, int buffer,
                           bool add, Scores& scores) const {
    if constexpr (kByWarpgroups) {
      start_split(place, fragments, buffer, add, scores);
    } else {
      if (!add) clear(scores);
      if constexpr (Shape::kSplit) {
        multiply_split(place, buffer, scores);
      } else {
        multiply_plain(place, buffer, scores);
      }
    }
  }

  __device__ static void finish(Scores& scores) {
    if constexpr (kByWarpgroups) {
      wait_for_products();
      keep_behind(scores);
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

  // For chips with warpgroup products.
  __device__ void start_split(const Place<Shape>& place, const RowFragments& fragments, int buffer,
                              bool add, Scores& scores) const {
    const int warpgroup_row = place.warp_row / kWarpgroupRows * kWarpgroupRows;
    const uint64_t rows = describe(
        uniform(shared_address(row_buffer(buffer) + swizzled<Shape::kRows>(warpgroup_row, 0))));
    const uint64_t codes = describe(
        uniform(shared_address(code_buffer(buffer) + swizzled<Shape::kCodes>(place.warp_code, 0))));
    keep_behind(scores);
    begin_products();
#pragma unroll
    for (int dimension = 0; dimension < Shape::kDepth; dimension += 16) {
      const uint64_t code_high = codes + described(panel_start<Shape::kCodes>(dimension));
      const uint64_t code_low = code_high + described(Shape::kCodePlane);
#pragma unroll
      for (int operand = 0; operand < 2; ++operand) {
        const uint64_t row_high =
            rows + described(operand * 2 * Shape::kRowPlane + panel_start<Shape::kRows>(dimension));
        const uint64_t row_low = row_high + described(Shape::kRowPlane);
        const auto start_high = [&](uint64_t code, bool add_high) {
          if constexpr (kRowsInRegisters) {
            start_product(scores[operand][0], fragments.high[operand][dimension / 16], code,
                          add_high);
          } else {
            start_product(scores[operand][0], row_high, code, add_high);
          }
        };
        start_high(code_low, add || dimension > 0);
        start_product(scores[operand][0], row_low, code_high, true);
        start_high(code_high, true);
      }
    }
    end_products();
  }

  __device__ void load(RowFragments& fragments, const Place<Shape>& place) const {
    const uint32_t rows = shared_address(row_planes_);
#pragma unroll
    for (int operand = 0; operand < 2; ++operand) {
#pragma unroll
      for (int dimension = 0; dimension < Shape::kDepth; dimension += 16) {
        load_matrices(
            rows + bytes(operand * 2 * Shape::kRowPlane) + row_fragment_offset(place, dimension),
            fragments.high[operand][dimension / 16]);
      }
    }
  }

  // For other chips: by warps, through registers.
  __device__ void multiply_split(const Place<Shape>& place, int buffer, Scores& scores) const {
    // The matrices that ldmatrix loads for codes: (dimensions 0-7, 8-15) x (codes 0-7, then 8-15).
    // They are b of two neighbouring products.
    const int lane = place.lane;
    const uint32_t rows = shared_address(row_buffer(buffer));
    const uint32_t codes = shared_address(code_buffer(buffer));
    const int code = place.warp_code + lane % 8 + lane / 16 * 8;
#pragma unroll
    for (int dimension = 0; dimension < Shape::kDepth; dimension += 16) {
      const uint32_t code_address =
          codes + bytes(swizzled<Shape::kCodes>(code, dimension + lane / 8 % 2 * 8));
      uint32_t code_high[kWarpCodes / 16][4];
      uint32_t code_low[kWarpCodes / 16][4];
#pragma unroll
      for (int pair = 0; pair < kWarpCodes / 16; ++pair) {
        const uint32_t address = code_address + bytes(pair * 16 * kPanel);
        load_matrices(address, code_high[pair]);
        load_matrices(address + bytes(Shape::kCodePlane), code_low[pair]);
      }
      const uint32_t row_address = rows + row_fragment_offset(place, dimension);
#pragma unroll
      for (int operand = 0; operand < 2; ++operand) {
        const uint32_t address = row_address + bytes(operand * 2 * Shape::kRowPlane);
        uint32_t row_high[4];
        uint32_t row_low[4];
        load_matrices(address, row_high);
        load_matrices(address + bytes(Shape::kRowPlane), row_low);
        accumulate(scores[operand][0], row_high, code_low);
        accumulate(scores[operand][0], row_low, code_high);
        accumulate(scores[operand][0], row_high, code_high);
      }
    }
  }

  __device__ uint16_t* row_buffer(int buffer) const {
    return row_planes_ + (Shape::kResident ? 0 : buffer * Shape::kRowBuffer);
  }

  __device__ uint16_t* code_buffer(int buffer) const {
    return code_planes_ + buffer * Shape::kCodeBuffer;
  }

  // The offset a lane gives ldmatrix for the warp's rows: (rows 0-7, 8-15) x (dimensions 0-7, then
  // 8-15).
  __device__ static uint32_t row_fragment_offset(const Place<Shape>& place, int dimension) {
    return bytes(
        swizzled<Shape::kRows>(place.warp_row + place.lane % 16, dimension + place.lane / 16 * 8));
  }

  // Where 16 dimensions of the first vector start, without the permutation: the tensor cores apply
  // that themselves.
  template <int vectors>
  __device__ static constexpr int panel_start(int dimension) {
    return swizzled<vectors>(0, dimension);
  }

  // A distance in the unit of a descriptor.
  __device__ static constexpr uint64_t described(int elements) {
    return static_cast<uint64_t>(bytes(elements) / 16);
  }

  // The same value, but the compiler knows that it is the same in all lanes.
  __device__ static uint32_t uniform(uint32_t value) {
    return __shfl_sync(0xFFFFFFFFu, value, 0);
  }

  __device__ static constexpr uint32_t bytes(int elements) {
    return static_cast<uint32_t>(elements) * uint32_t{sizeof(uint16_t)};
  }

  __device__ static void accumulate(float (&scores)[kWarpCodes / 8][4], const uint32_t (&rows)[4],
                                    const uint32_t (&codes)[kWarpCodes / 16][4]) {
#pragma unroll
    for (int c = 0; c < kWarpCodes / 8; ++c) {
      multiply_add(scores[c], rows, codes[c / 2][c % 2 * 2], codes[c / 2][c % 2 * 2 + 1]);
    }
  }

  const Matrix& rows0_;
  const Matrix& rows1_;
  const Matrix& codes_;
  uint16_t* const row_planes_;
  uint16_t* const code_planes_;
  SplitBarrier* const barrier_;
  uint32_t rounds_ = 0;
};

}  // namespace tessera::kernels::cuda
