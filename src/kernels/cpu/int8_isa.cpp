// Compiled once per instruction set (macro TESSERA_ISA, flags in src/CMakeLists.txt). Only the
// product of 4 by 4 numbers is written in instructions; the compiler vectorises the rest.

#include "kernels/cpu/int8.h"
#include "kernels/cpu/isa.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tessera::kernels::cpu {
namespace {

constexpr int64_t kBlock = Int8Matrix::kBlock, kGroup = Int8Matrix::kGroup;

// --- sums of products of whole numbers: 16 outputs of a row ---

#ifdef __AVX512VNNI__
constexpr int kRows = 6, kBlocks = 4;  // of a tile of the result: 24 of 32 registers

struct Sums {
  __m512i of;
};
struct Codes {
  __m512i of;
};
inline Sums no_sums() {
  return {_mm512_setzero_si512()};
}
inline Codes codes_at(const int8_t* group) {
  return {_mm512_loadu_si512(group)};
}
// Adds 4 inputs of a row times a group. In assembly, because GCC copies the sums around its own
// form of this instruction, which takes twice as long.
inline void add(Sums& sums, int32_t inputs, const Codes& codes) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.of) : "v"(_mm512_set1_epi32(inputs)), "v"(codes.of));
}
inline void store(const Sums& sums, int32_t* to) {
  _mm512_storeu_si512(to, sums.of);
}
#else
constexpr int kRows = 2, kBlocks = 1;

// Each register has the sums of two inputs for four outputs, of which store() makes sums of four.
struct Sums {
  __m256i of[4];
};
struct Codes {
  __m256i of[4];  // in 16 bits: products of 8 bits would overflow
};
inline Sums no_sums() {
  const __m256i zero = _mm256_setzero_si256();
  return {{zero, zero, zero, zero}};
}
inline Codes codes_at(const int8_t* group) {
  Codes codes;
  for (int k = 0; k < 4; ++k)
    codes.of[k] =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(group + 16 * k)));
  return codes;
}
inline void add(Sums& sums, int32_t inputs, const Codes& codes) {
  const __m256i wide = _mm256_cvtepu8_epi16(_mm_set1_epi32(inputs));
  for (int k = 0; k < 4; ++k)
    sums.of[k] = _mm256_add_epi32(sums.of[k], _mm256_madd_epi16(wide, codes.of[k]));
}
inline void store(const Sums& sums, int32_t* to) {
  constexpr int kInOrder = 0b11'01'10'00;  // of the halves that the horizontal sum interleaves
  for (int k = 0; k < 2; ++k) {
    const __m256i joined = _mm256_hadd_epi32(sums.of[2 * k], sums.of[2 * k + 1]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8 * k),
                        _mm256_permute4x64_epi64(joined, kInOrder));
  }
}
#endif

// --- rows of numbers ---

// Rows rounded to 8 bits: value k of row r is about low[r] + scale[r] * code.
struct RoundedRows {
  void resize(int64_t rows, int64_t columns) {
    stride = (columns + kGroup - 1) / kGroup * kGroup;
    codes.resize(static_cast<size_t>(rows * stride));
    low.resize(static_cast<size_t>(rows));
    scale.resize(static_cast<size_t>(rows));
  }

  int64_t stride = 0;
  std::vector<uint8_t> codes;
  std::vector<float> low, scale;
};

void round_row(const float* x, int64_t columns, int64_t row, RoundedRows& rows) {
  constexpr float kLargest = 255;
  float low = std::numeric_limits<float>::infinity(), high = -low;
#pragma omp simd reduction(min : low) reduction(max : high)
  for (int64_t k = 0; k < columns; ++k) {
    low = x[k] < low ? x[k] : low;
    high = x[k] > high ? x[k] : high;
  }
  const float scale = (high - low) / kLargest, inverse = scale > 0 ? 1 / scale : 0;
  uint8_t* const codes = rows.codes.data() + row * rows.stride;
#pragma omp simd
  for (int64_t k = 0; k < columns; ++k)
    codes[k] = static_cast<uint8_t>(static_cast<int32_t>((x[k] - low) * inverse + 0.5F));
  for (int64_t k = columns; k < rows.stride; ++k) codes[k] = 0;
  rows.low[static_cast<size_t>(row)] = low;
  rows.scale[static_cast<size_t>(row)] = scale;
}

// y = norm(x).   May be done in place.
void normalise(const float* x, int64_t columns, const Int8Norm& norm, float eps, float* y) {
  const auto count = static_cast<float>(columns);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < columns; ++k) sum += x[k];
  const float mean = sum / count;
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t k = 0; k < columns; ++k) squares += (x[k] - mean) * (x[k] - mean);
  const float inverse = 1 / std::sqrt(squares / count + eps);
#pragma omp simd
  for (int64_t k = 0; k < columns; ++k)
    y[k] = (x[k] - mean) * inverse * norm.scale[k] + norm.shift[k];
}

// --- products ---

// What becomes of a product's results.
enum class Then { nothing, positive_part };

// A tile of rows times blocks.   y: the tile's first number, rows of `stride` numbers
template <int rows, int blocks>
void tile(const Int8Linear& layer, int64_t first_block, const RoundedRows& x, int64_t first_row,
          float* y, int64_t stride, Then then) {
  const Int8Matrix& matrix = *layer.matrix;
  const int64_t groups = matrix.groups(), size = groups * kBlock * kGroup;
  const int8_t* const codes = matrix.block(first_block);
  const uint8_t* const inputs = x.codes.data() + first_row * x.stride;
  Sums sums[rows][blocks];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int b = 0; b < blocks; ++b) sums[r][b] = no_sums();
  for (int64_t group = 0; group < groups; ++group) {
    Codes weights[blocks];
#pragma GCC unroll 8
    for (int b = 0; b < blocks; ++b)
      weights[b] = codes_at(codes + b * size + group * kBlock * kGroup);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      int32_t four;
      std::memcpy(&four, inputs + r * x.stride + group * kGroup, sizeof four);
#pragma GCC unroll 8
      for (int b = 0; b < blocks; ++b) add(sums[r][b], four, weights[b]);
    }
  }
  // By constant indices alone, so that the sums stay in registers until here.
  int32_t whole[rows][blocks][kBlock];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int b = 0; b < blocks; ++b) store(sums[r][b], whole[r][b]);

  const float floor = then == Then::positive_part ? 0 : -std::numeric_limits<float>::infinity();
  for (int r = 0; r < rows; ++r) {
    const float scale = x.scale[static_cast<size_t>(first_row + r)],
                low = x.low[static_cast<size_t>(first_row + r)];
    for (int b = 0; b < blocks; ++b) {
      const int64_t first = (first_block + b) * kBlock,
                    count = std::min(kBlock, matrix.outputs() - first);
      const float *const scales = matrix.scales() + first, *const totals = matrix.sums() + first;
      float bias[kBlock] = {}, result[kBlock];
      if (layer.bias != nullptr) {
        if (count == kBlock)  // without a call of memcpy
          std::memcpy(bias, layer.bias + first, sizeof bias);
        else
          std::copy_n(layer.bias + first, count, bias);
      }
#pragma omp simd
      for (int64_t k = 0; k < kBlock; ++k) {
        const float value =
            static_cast<float>(whole[r][b][k]) * (scale * scales[k]) + (low * totals[k] + bias[k]);
        result[k] = value > floor ? value : floor;
      }
      float* const to = y + r * stride + b * kBlock;
      if (count == kBlock)  // without a call of memcpy
        std::memcpy(to, result, sizeof result);
      else
        std::copy_n(result, count, to);
    }
  }
}

using Tile = void (*)(const Int8Linear&, int64_t, const RoundedRows&, int64_t, float*, int64_t,
                      Then);

template <int rows, int blocks>
constexpr Tile tile_of(int64_t row_count, int64_t block_count) {
  if constexpr (rows > 1)
    if (row_count < rows) return tile_of<rows - 1, blocks>(row_count, block_count);
  if constexpr (blocks > 1)
    if (block_count < blocks) return tile_of<rows, blocks - 1>(row_count, block_count);
  return tile<rows, blocks>;
}

//   y  [rows, outputs]
void multiply(const Int8Linear& layer, const RoundedRows& x, int64_t rows, float* y, Then then) {
  const Int8Matrix& matrix = *layer.matrix;
  const int64_t outputs = matrix.outputs();
  for (int64_t block = 0; block < matrix.blocks(); block += kBlocks)
    for (int64_t row = 0; row < rows; row += kRows) {
      const Tile part = tile_of<kRows, kBlocks>(rows - row, matrix.blocks() - block);
      part(layer, block, x, row, y + row * outputs + block * kBlock, outputs, then);
    }
}

void linear(const Int8Linear& layer, const float* x, int64_t rows, float* y) {
  thread_local RoundedRows rounded;
  const int64_t inputs = layer.matrix->inputs();
  rounded.resize(rows, inputs);
  for (int64_t r = 0; r < rows; ++r) round_row(x + r * inputs, inputs, r, rounded);
  multiply(layer, rounded, rows, y, Then::nothing);
}

// --- attention ---

// exp(x) for x <= 0, within 2 units of the last place; 0 far below.
inline float exponential(float x) {
  constexpr float kLog2E = 1.44269504F, kHigh = 0.693145752F, kLow = 1.42860677e-6F;
  const float clamped = x > -87.0F ? x : -87.0F;
  const float power = std::floor(clamped * kLog2E + 0.5F);
  const float rest = (clamped - power * kHigh) - power * kLow;
  float sum = 1.98756915e-4F;
  for (const float next : {1.39819995e-3F, 8.33345192e-3F, 4.16657959e-2F, 0.166666655F, 0.5F})
    sum = sum * rest + next;
  sum = sum * rest * rest + rest + 1;
  const auto bits = static_cast<uint32_t>(static_cast<int32_t>(power) + 127) << 23;
  return x > -87.0F ? sum * std::bit_cast<float>(bits) : 0;
}

// Queries that lie at a distance of `stride`, and where their results go.
struct Queries {
  const float* from;
  int64_t stride, count;
  float* to;  // [count, heads * size]
};

// Numbers in a register.
#ifdef __AVX512F__
constexpr int64_t kLanes = 16;
#else
constexpr int64_t kLanes = 8;
#endif
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

inline Lanes lanes_at(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline float sum_of(const Lanes& lanes) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < kLanes; ++k) sum += lanes[k];
  return sum;
}

// The arithmetic of one head whose size is known: a multiple of kLanes.
template <int64_t kSize>
struct Head {
  static constexpr int64_t kParts = kSize / kLanes;
  static constexpr int64_t size() { return kSize; }

  // Products of a query with keys, some keys at a time.
  static void score(const float* query, const float* keys, int64_t stride, int64_t count,
                    float* scores) {
    constexpr int64_t kAtOnce = 4;
    int64_t j = 0;
    for (; j + kAtOnce <= count; j += kAtOnce)
      score<kAtOnce>(query, keys + j * stride, stride, scores + j);
    for (; j < count; ++j) score<1>(query, keys + j * stride, stride, scores + j);
  }

  // The sum of values, each times its share.
  static void mix(const float* shares, const float* values, int64_t stride, int64_t count,
                  float* result) {
    Lanes sums[kParts] = {};
    for (int64_t j = 0; j < count; ++j)
#pragma GCC unroll 16
      for (int64_t k = 0; k < kParts; ++k)
        sums[k] += shares[j] * lanes_at(values + j * stride + k * kLanes);
#pragma GCC unroll 16
    for (int64_t k = 0; k < kParts; ++k) std::memcpy(result + k * kLanes, &sums[k], sizeof(Lanes));
  }

 private:
  template <int64_t kCount>
  static void score(const float* query, const float* keys, int64_t stride, float* scores) {
    Lanes sums[kCount] = {};
#pragma GCC unroll 8
    for (int64_t k = 0; k < kSize; k += kLanes) {
      const Lanes part = lanes_at(query + k);
#pragma GCC unroll 4
      for (int64_t j = 0; j < kCount; ++j) sums[j] += part * lanes_at(keys + j * stride + k);
    }
#pragma GCC unroll 4
    for (int64_t j = 0; j < kCount; ++j) scores[j] = sum_of(sums[j]);
  }
};

// The same for any size.
struct AnyHead {
  int64_t numbers;
  int64_t size() const { return numbers; }

  void score(const float* query, const float* keys, int64_t stride, int64_t count,
             float* scores) const {
    for (int64_t j = 0; j < count; ++j) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < numbers; ++k) sum += query[k] * keys[j * stride + k];
      scores[j] = sum;
    }
  }

  void mix(const float* shares, const float* values, int64_t stride, int64_t count,
           float* result) const {
    std::fill_n(result, numbers, 0.0F);
    for (int64_t j = 0; j < count; ++j)
#pragma omp simd
      for (int64_t k = 0; k < numbers; ++k) result[k] += shares[j] * values[j * stride + k];
  }
};

// In place.
void softmax(float* scores, int64_t count, float scale) {
  float largest = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : largest)
  for (int64_t j = 0; j < count; ++j) largest = scores[j] > largest ? scores[j] : largest;
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < count; ++j) {
    scores[j] = exponential((scores[j] - largest) * scale);
    total += scores[j];
  }
  const float inverse = 1 / total;
#pragma omp simd
  for (int64_t j = 0; j < count; ++j) scores[j] *= inverse;
}

template <class HeadOfSize>
void attend(const HeadOfSize& head, const Queries& queries, const Int8Memory& memory, int64_t keys,
            int64_t heads, std::vector<float>& room) {
  const float scale = 1 / std::sqrt(static_cast<float>(head.size()));
  room.resize(static_cast<size_t>(keys));
  for (int64_t number = 0; number < heads; ++number) {
    const int64_t first = number * head.size();
    for (int64_t i = 0; i < queries.count; ++i) {
      head.score(queries.from + i * queries.stride + first, memory.keys + first, memory.stride,
                 keys, room.data());
      softmax(room.data(), keys, scale);
      head.mix(room.data(), memory.values + first, memory.stride, keys,
               queries.to + i * heads * head.size() + first);
    }
  }
}

//   size  of a head
void attend_to(const Queries& queries, const Int8Memory& memory, int64_t keys, int64_t heads,
               int64_t size, std::vector<float>& room) {
  switch (size) {
    case 64:
      return attend(Head<64>(), queries, memory, keys, heads, room);
    case 128:
      return attend(Head<128>(), queries, memory, keys, heads, room);
    default:
      return attend(AnyHead{size}, queries, memory, keys, heads, room);
  }
}

// --- a stack of layers ---

// What a call of run() needs. Kept from call to call: to allocate it takes as long as a layer of a
// short sentence.
struct Room {
  std::vector<float> attended;  // [rows, width]: also results of the last products of parts
  std::vector<float> part;      // [rows, ...]: results of the first products
  std::vector<float> shares;    // of one query in the keys
  RoundedRows rounded;
};

// One call of run().
class Run {
 public:
  Run(const Int8Stack& stack, const std::vector<Int8Sequence>& sequences, float* x, Room& room)
      : stack_(stack), sequences_(sequences), x_(x), room_(room), width_(stack.width) {
    for (const Int8Sequence& sequence : sequences) rows_ += sequence.length;
    room_.attended.resize(static_cast<size_t>(rows_ * width_));
    room_.part.resize(static_cast<size_t>(rows_ * std::max(3 * width_, stack.feedforward)));
  }

  void operator()() {
    float* const part = room_.part.data();
    for (size_t k = 0; k < stack_.layers.size(); ++k) {
      const Int8Layer& layer = stack_.layers[k];
      begin(layer.self_norm);
      multiply(layer.in, room_.rounded, rows_, part, Then::nothing);
      attend_to_itself();
      end(layer.out, room_.attended, layer.self_norm);
      if (layer.queries.matrix != nullptr) {
        begin(layer.cross_norm);
        multiply(layer.queries, room_.rounded, rows_, part, Then::nothing);
        attend_to_memory(k);
        end(layer.cross_out, room_.attended, layer.cross_norm);
      }
      begin(layer.feedforward_norm);
      multiply(layer.up, room_.rounded, rows_, part,
               stack_.gelu ? Then::nothing : Then::positive_part);
      if (stack_.gelu) gelu();
      end(layer.down, room_.part, layer.feedforward_norm);
    }
    if (!stack_.norm_first) return;
    for (int64_t r = 0; r < rows_; ++r)
      normalise(row(r), width_, stack_.last_norm, stack_.eps, row(r));
  }

 private:
  float* row(int64_t r) const { return x_ + r * width_; }

  // Rounds the input of a part of a layer.
  void begin(const Int8Norm& norm) {
    room_.rounded.resize(rows_, width_);
    for (int64_t r = 0; r < rows_; ++r) {
      const float* input = row(r);
      if (stack_.norm_first) {
        normalise(input, width_, norm, stack_.eps, room_.attended.data());
        input = room_.attended.data();
      }
      round_row(input, width_, r, room_.rounded);
    }
  }

  // The last product of a part, and the sum with the part's input.
  void end(const Int8Linear& layer, const std::vector<float>& input, const Int8Norm& norm) {
    const int64_t inputs = layer.matrix->inputs();
    room_.rounded.resize(rows_, inputs);
    for (int64_t r = 0; r < rows_; ++r)
      round_row(input.data() + r * inputs, inputs, r, room_.rounded);
    multiply(layer, room_.rounded, rows_, room_.attended.data(), Then::nothing);
    for (int64_t r = 0; r < rows_; ++r) {
      float* const sum = row(r);
      const float* const more = room_.attended.data() + r * width_;
#pragma omp simd
      for (int64_t k = 0; k < width_; ++k) sum[k] += more[k];
      if (!stack_.norm_first) normalise(sum, width_, norm, stack_.eps, sum);
    }
  }

  void attend_to_itself() {
    const int64_t stride = 3 * width_;
    const float* from = room_.part.data();
    float* to = room_.attended.data();
    for (const Int8Sequence& sequence : sequences_) {
      attend_to({from, stride, sequence.length, to}, {from + width_, from + 2 * width_, stride},
                sequence.length, stack_.heads, width_ / stack_.heads, room_.shares);
      from += sequence.length * stride;
      to += sequence.length * width_;
    }
  }

  void attend_to_memory(size_t layer) {
    const float* from = room_.part.data();
    float* to = room_.attended.data();
    for (const Int8Sequence& sequence : sequences_) {
      attend_to({from, width_, sequence.length, to}, sequence.memories[layer],
                sequence.memory_length, stack_.heads, width_ / stack_.heads, room_.shares);
      from += sequence.length * width_;
      to += sequence.length * width_;
    }
  }

  void gelu() {
    const auto root_half = static_cast<float>(M_SQRT1_2);
    float* const x = room_.part.data();
    for (int64_t k = 0; k < rows_ * stack_.feedforward; ++k)
      x[k] *= 0.5F * (1 + std::erf(x[k] * root_half));
  }

  const Int8Stack& stack_;
  const std::vector<Int8Sequence>& sequences_;
  float* const x_;
  Room& room_;
  int64_t width_, rows_ = 0;
};

void run(const Int8Stack& stack, const std::vector<Int8Sequence>& sequences, float* x) {
  thread_local Room room;
  Run(stack, sequences, x, room)();
}

}  // namespace

extern const Int8Kernels TESSERA_NAME(int8_kernels_, TESSERA_ISA);
const Int8Kernels TESSERA_NAME(int8_kernels_, TESSERA_ISA) = {TESSERA_TEXT(TESSERA_ISA), linear,
                                                              run};

}  // namespace tessera::kernels::cpu
