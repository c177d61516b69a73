#include <tessera/tensor/random.h>

#include "base/require.h"
#include "kernels/philox.h"
#include "tensor/device.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tessera {
namespace {

constexpr uint64_t kWord = uint64_t{1} << 32;
constexpr int64_t kSampleLimit = int64_t{1} << 56;

at::Tensor sample_numbers(const at::Tensor& samples) {
  require_labels(samples, "samples");
  if (samples.device().is_cpu()) check_range(samples, kSampleLimit, "samples");
  return samples.contiguous();
}

// The seeds of rows; undefined if they have none of their own.
at::Tensor row_seeds(const at::Tensor& seeds, const at::Tensor& samples) {
  if (!seeds.defined()) return seeds;
  require_labels(seeds, "seeds");
  require_shape(seeds, samples.sizes(), "seeds");
  require_same_device(seeds, samples.device(), "seeds");
  return seeds.contiguous();
}

kernels::StreamBatch stream_batch(const StreamId& id, const at::Tensor& samples,
                                  const at::Tensor& seeds, int64_t columns) {
  require(id.step < kWord, "a stream's step must be below 2^32, got {}", id.step);
  require(samples.dim() == 1, "samples must be one-dimensional, got shape {}",
          shape_text(samples.sizes()));
  require(columns / 2 < static_cast<int64_t>(kWord), "a row of {} random numbers is too long",
          columns);
  return {id.seed,
          static_cast<uint32_t>(id.purpose),
          static_cast<uint32_t>(id.step),
          samples.const_data_ptr<int64_t>(),
          samples.size(0),
          columns,
          seeds.defined() ? seeds.const_data_ptr<int64_t>() : nullptr};
}

// Numbers of every row's stream.   -> [B, shape...]
template <class Number>
at::Tensor random_rows(const StreamId& id, const at::Tensor& samples, at::IntArrayRef shape,
                       const at::Tensor& seeds, auto&& on_host, auto&& on_device) {
  const at::Tensor rows = sample_numbers(samples);
  const at::Tensor own_seeds = row_seeds(seeds, rows);
  const auto batch = stream_batch(id, rows, own_seeds, c10::multiply_integers(shape));
  std::vector<int64_t> sizes(1 + shape.size(), batch.rows);
  std::copy(shape.begin(), shape.end(), sizes.begin() + 1);
  at::Tensor out = at::empty(sizes, rows.options().dtype(c10::CppTypeToScalarType<Number>::value));
  if (out.numel() == 0) return out;
  auto* const data = out.mutable_data_ptr<Number>();
  if (out.is_cuda()) {
    on_cuda(out.device(), [&](void* stream) { on_device(batch, data, stream); });
  } else {
    on_host(batch, data);
  }
  return out;
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  const auto [word] =
      kernels::philox({{counter[0], counter[1], counter[2], counter[3]}}, key[0], key[1]);
  return {word[0], word[1], word[2], word[3]};
}

RandomStream::RandomStream(const StreamId& id, uint64_t sample)
    : key_{static_cast<uint32_t>(id.seed), static_cast<uint32_t>(id.seed >> 32)} {
  require(id.step < kWord, "a stream's step must be below 2^32, got {}", id.step);
  const auto [word] = kernels::stream_counter(static_cast<uint32_t>(id.purpose),
                                              static_cast<uint32_t>(id.step), sample, 0);
  counter_ = {word[0], word[1], word[2], word[3]};
}

uint32_t RandomStream::bits() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

double RandomStream::uniform() {
  return bits() / static_cast<double>(kWord);
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log((bits() + 0.5) / static_cast<double>(kWord)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

uint64_t RandomStream::below(uint64_t bound) {
  require(bound > 0, "RandomStream::below needs a bound above 0");
  const uint64_t limit = std::numeric_limits<uint64_t>::max() / bound * bound;
  uint64_t value;
  do {
    value = bits();
    value = value << 32 | bits();
  } while (value >= limit);
  return value % bound;
}

at::Tensor random_normal(const StreamId& id, const at::Tensor& samples, at::IntArrayRef shape,
                         double scale, const at::Tensor& seeds) {
  require(std::isfinite(scale), "the scale of random noise must be finite, got {}", scale);
  const auto factor = static_cast<float>(scale);
  return random_rows<float>(
      id, samples, shape, seeds,
      [&](const kernels::StreamBatch& batch, float* out) {
        kernels::cpu::normal(batch, factor, out);
      },
      [&](const kernels::StreamBatch& batch, float* out, void* stream) {
        kernels::cuda::normal(batch, factor, out, stream);
      });
}

at::Tensor random_uniform(const StreamId& id, const at::Tensor& samples, at::IntArrayRef shape,
                          const at::Tensor& seeds) {
  return random_rows<double>(id, samples, shape, seeds, kernels::cpu::uniform,
                             kernels::cuda::uniform);
}

at::Tensor random_integers(const StreamId& id, const at::Tensor& samples, int64_t low, int64_t high,
                           const at::Tensor& seeds) {
  require(low <= high, "random_integers needs low <= high, got {} and {}", low, high);
  const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  require(count != 0 && count <= kWord, "random_integers spans at most 2^32 values");
  const at::Tensor rows = sample_numbers(samples);
  const at::Tensor own_seeds = row_seeds(seeds, rows);
  const auto batch = stream_batch(id, rows, own_seeds, 1);
  at::Tensor out = at::empty_like(rows);
  if (out.numel() == 0) return out;
  auto* data = out.mutable_data_ptr<int64_t>();
  if (out.is_cuda()) {
    on_cuda(out.device(),
            [&](void* stream) { kernels::cuda::integers(batch, low, count, data, stream); });
  } else {
    kernels::cpu::integers(batch, low, count, data);
  }
  return out;
}

}  // namespace tessera
