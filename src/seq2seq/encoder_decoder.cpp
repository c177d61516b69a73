#include "seq2seq/encoder_decoder.h"

#include "base/require.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::seq2seq {

nn::Initial outside_layers(int64_t inputs) {
  return nn::Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(inputs)));
}

namespace {

nn::TransformerOptions encoder_options(const NetworkOptions& options) {
  nn::TransformerOptions result = options.transformer;
  if (options.reading == Reading::joined) result.layers *= 2;
  return result;
}

// Every row n times, one after the other.   [B, ...] -> [B * n, ...]
at::Tensor repeated(const at::Tensor& rows, int64_t n) {
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes.insert(sizes.begin() + 1, n);
  return rows.unsqueeze(1).expand(sizes).flatten(0, 1);
}

}  // namespace

EncoderDecoder::EncoderDecoder(nn::Parameters& parameters, const NetworkOptions& options)
    : dropout_(options.transformer.dropout),
      encoder_(parameters, "encoder", nn::Transformer::Kind::encoder, encoder_options(options)) {
  if (options.reading == Reading::cross)
    decoder_.emplace(parameters, "decoder", nn::Transformer::Kind::decoder, options.transformer);
  const int64_t latent = options.latent, width = options.transformer.width;
  require_option(width % 2 == 0, "model.width must be even, got {}", width);
  from_latent_ =
      nn::Linear(parameters, "enter", latent, width, /*bias=*/false, outside_layers(latent));
  to_latent_ =
      nn::Linear(parameters, "leave", width, latent, /*bias=*/false, outside_layers(width));
  source_positions_ = nn::Positions(parameters, "source_positions", options.positions, width);
  target_positions_ = nn::Positions(parameters, "target_positions", options.positions, width);
  source_norm_ = nn::LayerNorm(parameters, "source_norm", width);
  target_norm_ = nn::LayerNorm(parameters, "target_norm", width);
}

Encoded EncoderDecoder::encode(const at::Tensor& points, const at::Tensor& visible,
                               nn::Mode mode) const {
  const at::Tensor x = from_latent_(points) + source_positions_(points.size(1));
  Encoded encoded;
  encoded.visible = visible;
  encoded.memory_bias = nn::key_bias(visible, dtype());
  encoded.states =
      encoder_(nn::dropout(source_norm_(x), dropout_, mode), encoded.memory_bias, {}, {}, mode);
  if (decoder_)
    encoded.memories = decoder_->memories(encoded.states);
  else
    encoded.entered = x;
  return encoded;
}

at::Tensor EncoderDecoder::with_positions(const at::Tensor& h, int64_t first, nn::Mode mode) const {
  return nn::dropout(target_norm_(h + target_positions_(h.size(1), first)), dropout_, mode);
}

at::Tensor EncoderDecoder::decode(const at::Tensor& h, const at::Tensor& bias,
                                  const Encoded& encoded, nn::Mode mode,
                                  const at::Tensor& clock) const {
  if (!decoder_) return decode_joined(h, bias, encoded, mode, clock);
  return to_latent_((*decoder_)(h, bias, encoded.memories, encoded.memory_bias, mode))
      .to(at::kFloat);
}

at::Tensor EncoderDecoder::decode_joined(const at::Tensor& h, const at::Tensor& bias,
                                         const Encoded& encoded, nn::Mode mode,
                                         const at::Tensor& clock) const {
  const int64_t length = h.size(1), n = h.size(0) / encoded.entered.size(0);
  at::Tensor source = repeated(encoded.entered, n);
  if (clock.defined()) source = source + clock.unsqueeze(1);
  source = nn::dropout(source_norm_(source), dropout_, mode);
  const at::Tensor target = bias.squeeze(1).squeeze(1);  // [B * n, L]
  const at::Tensor visible = at::cat({repeated(encoded.visible, n), target.eq(0)}, 1);
  const at::Tensor states =
      encoder_(at::cat({source, h}, 1), nn::key_bias(visible, dtype()), {}, {}, mode);
  return to_latent_(states.narrow(1, source.size(1), length)).to(at::kFloat);
}

at::Tensor EncoderDecoder::decode_step(const at::Tensor& h, nn::KeyCache& cache,
                                       const Encoded& encoded) const {
  return to_latent_(decoder_->step(h, cache, encoded.memories, encoded.memory_bias)).to(at::kFloat);
}

void EncoderDecoder::use_int8() {
  encoder_.use_int8();
  if (decoder_) decoder_->use_int8();
}

nn::KeyCache EncoderDecoder::cache(int64_t rows, int64_t room) const {
  return decoder_->cache(rows, room);
}

}  // namespace tessera::seq2seq
