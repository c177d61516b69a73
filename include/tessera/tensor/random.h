#pragma once

#include <tessera/base/api.h>

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

namespace tessera {

// What a random stream is for. The numbers are part of what makes a run repeatable: never renumber.
enum class Purpose : uint32_t {
  initial_weights = 1,
  training_noise = 2,
  training_time = 3,
  self_conditioning = 4,
  dropout = 5,
  data_order = 6,
  validation = 7,
  sampling = 8,       // the start noise of a sample
  sampling_step = 9,  // the noise a Gaussian sampler adds on the way
  picture = 10,
  test = 11,
  symbol_step = 12,  // what a sampler of symbols draws on the way
  resampling = 20,   // of lines, to see how sure a score is
};

// Counter-based random numbers (Philox 4x32-10): a number is a function of (seed, purpose, step,
// sample, position) and of nothing else, so results do not depend on batch composition, worker
// counts or resume points.
struct StreamId {
  uint64_t seed = 0;
  Purpose purpose = Purpose::test;
  uint64_t step = 0;  // below 2^32
};

// The raw generator: 128 bits of counter and 64 of key to 128 random bits.
TESSERA_API std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                           std::array<uint32_t, 2> key);

// One stream, drawn from one number at a time.
class TESSERA_API RandomStream {
 public:
  explicit RandomStream(const StreamId& id, uint64_t sample = 0);  // sample below 2^56

  uint32_t bits();
  double uniform();                // in [0, 1), 32 bits
  double normal();                 // N(0, 1)
  uint64_t below(uint64_t bound);  // uniform in {0 .. bound-1}, unbiased

 private:
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;
};

// Normal noise, one stream per row.
//   samples  [B] int64, on the device of the result: the sample number (below 2^56) of every row
//   shape    of one row
//   seeds    [B] int64, likewise: the seed of every row (its 64 bits) instead of id.seed;
//            undefined: all rows have id.seed
//   returns  [B, shape...] float32 ~ scale * N(0, 1)
TESSERA_API at::Tensor random_normal(const StreamId& id, const at::Tensor& samples,
                                     at::IntArrayRef shape, double scale = 1.0,
                                     const at::Tensor& seeds = {});

// Uniform numbers, one stream per row.
//   samples, shape, seeds as above
//   returns  [B, shape...] float64 in [0, 1), of 53 bits
TESSERA_API at::Tensor random_uniform(const StreamId& id, const at::Tensor& samples,
                                      at::IntArrayRef shape, const at::Tensor& seeds = {});

// Uniform integers in [low, high], one per row.
//   samples [B] int64  ->  [B] int64 on the same device;  seeds as above
TESSERA_API at::Tensor random_integers(const StreamId& id, const at::Tensor& samples, int64_t low,
                                       int64_t high, const at::Tensor& seeds = {});

}  // namespace tessera
