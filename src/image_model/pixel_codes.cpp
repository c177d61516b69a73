#include "image_model/pixel_codes.h"

#include "base/require.h"

#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/codebook/symbol_table.h>
#include <tessera/tensor/random.h>

#include <ATen/ATen.h>

#include <bit>
#include <numeric>

namespace tessera::image_model {
namespace {

std::vector<int64_t> permutation(uint64_t seed, int64_t symbols) {
  std::vector<int64_t> values(static_cast<size_t>(symbols));
  std::iota(values.begin(), values.end(), 0);
  RandomStream stream({seed, Purpose::initial_weights, 0});
  for (int64_t i = symbols - 1; i > 0; --i)
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

std::unique_ptr<Bits> bit_codes(const CodingOptions& options, int64_t symbols, at::Device device) {
  BitsOptions bits{.width = bits_for(symbols),
                   .size = options.size,
                   .order = options.order,
                   .gray = options.gray};
  if (options.shuffle > 0)
    bits.permutation = permutation(static_cast<uint64_t>(options.shuffle), symbols);
  return std::make_unique<Bits>(bits, device);
}

}  // namespace

int64_t bits_for(int64_t symbols) {
  const auto count = static_cast<uint64_t>(symbols);
  require_option(std::has_single_bit(count),
                 "{} symbols are not all patterns of some bits: model.coding = \"bits\" and "
                 "\"fixed\" need a power of two",
                 symbols);
  return std::countr_zero(count);
}

at::Tensor bits_of_symbols(const CodingOptions& options, int64_t symbols, at::Device device) {
  return bit_codes(options, symbols, device)
      ->encode(at::arange(symbols, at::TensorOptions().dtype(at::kLong).device(device)));
}

CodeWidths code_widths(const CodingOptions& options, int64_t symbols, bool mask) {
  switch (options.kind) {
    case Coding::bits:
    case Coding::fixed:
      return {bits_for(symbols), bits_for(symbols)};
    case Coding::trainable:
      return {options.latent, options.latent};
    case Coding::values:
      return {mask ? 2 : 1, options.head == ValueHead::logits ? symbols : 2};
    case Coding::symbols:
      return {options.latent, symbols};
    case Coding::pixels:
      break;
  }
  return {1, 1};
}

std::unique_ptr<Codebook> pixel_codes(const CodingOptions& options, int64_t symbols,
                                      const at::Tensor& trained, at::Device device, bool mask) {
  switch (options.kind) {
    case Coding::values:
      return std::make_unique<PixelValues>(symbols, options.head, mask, device);
    case Coding::symbols:
      return std::make_unique<SymbolTable>(trained, mask);
    case Coding::trainable:
      return std::make_unique<EmbeddingTable>(trained,
                                              EmbeddingTableOptions{.normalise = Normalise::l2});
    case Coding::pixels:
      return value_line(options.size, device);
    case Coding::bits:
    case Coding::fixed:
      break;
  }
  return bit_codes(options, symbols, device);
}

}  // namespace tessera::image_model
