#include "image_model/pixel_codes.h"

#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/tensor/random.h>

#include <ATen/ATen.h>

#include <numeric>

namespace tessera::image_model {
namespace {

std::vector<int64_t> permutation(uint64_t seed) {
  std::vector<int64_t> values(kValues);
  std::iota(values.begin(), values.end(), 0);
  RandomStream stream({seed, Purpose::initial_weights, 0});
  for (int64_t i = kValues - 1; i > 0; --i)
    std::swap(values[i], values[stream.below(static_cast<uint64_t>(i) + 1)]);
  return values;
}

// The values themselves, on a line; a point decodes to the nearest one.
std::unique_ptr<Codebook> value_line(double size, at::Device device) {
  const at::Tensor values =
      (at::arange(kValues, at::TensorOptions().dtype(at::kFloat).device(device)) /
           ((kValues - 1) / 2.0) -
       1) *
      size;
  return std::make_unique<EmbeddingTable>(values.unsqueeze(1),
                                          EmbeddingTableOptions{.normalise = Normalise::none},
                                          values.square() * -0.5);
}

std::unique_ptr<Bits> bit_codes(const CodingOptions& options, at::Device device) {
  BitsOptions bits{
      .width = kBits, .size = options.size, .order = options.order, .gray = options.gray};
  if (options.shuffle > 0) bits.permutation = permutation(static_cast<uint64_t>(options.shuffle));
  return std::make_unique<Bits>(bits, device);
}

}  // namespace

at::Tensor bits_of_values(const CodingOptions& options, at::Device device) {
  return bit_codes(options, device)
      ->encode(at::arange(kValues, at::TensorOptions().dtype(at::kLong).device(device)));
}

CodeWidths code_widths(const CodingOptions& options, bool mask) {
  switch (options.kind) {
    case Coding::bits:
    case Coding::fixed:
      return {kBits, kBits};
    case Coding::trainable:
      return {options.latent, options.latent};
    case Coding::values:
      return {mask ? 2 : 1, options.head == ValueHead::logits ? kValues : 2};
    case Coding::pixels:
      break;
  }
  return {1, 1};
}

std::unique_ptr<Codebook> pixel_codes(const CodingOptions& options, const at::Tensor& trained,
                                      at::Device device, bool mask) {
  if (options.kind == Coding::values)
    return std::make_unique<PixelValues>(kValues, options.head, mask, device);
  if (options.kind == Coding::trainable)
    return std::make_unique<EmbeddingTable>(trained,
                                            EmbeddingTableOptions{.normalise = Normalise::l2});
  if (options.kind == Coding::pixels) return value_line(options.size, device);
  return bit_codes(options, device);
}

}  // namespace tessera::image_model
