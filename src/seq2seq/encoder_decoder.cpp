#include "seq2seq/encoder_decoder.h"

#include "base/require.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::seq2seq {

nn::Initial outside_layers(int64_t inputs) {
  return nn::Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(inputs)));
}

EncoderDecoder::EncoderDecoder(nn::Parameters& parameters, const NetworkOptions& options)
    : dropout_(options.transformer.dropout),
      encoder_(parameters, "encoder", nn::Transformer::Kind::encoder, options.transformer),
      decoder_(parameters, "decoder", nn::Transformer::Kind::decoder, options.transformer) {
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
  encoded.memories = decoder_.memories(encoded.states);
  return encoded;
}

at::Tensor EncoderDecoder::with_positions(const at::Tensor& h, int64_t first, nn::Mode mode) const {
  return nn::dropout(target_norm_(h + target_positions_(h.size(1), first)), dropout_, mode);
}

at::Tensor EncoderDecoder::decode(const at::Tensor& h, const at::Tensor& bias,
                                  const Encoded& encoded, nn::Mode mode) const {
  return to_latent_(decoder_(h, bias, encoded.memories, encoded.memory_bias, mode)).to(at::kFloat);
}

at::Tensor EncoderDecoder::decode_step(const at::Tensor& h, nn::KeyCache& cache,
                                       const Encoded& encoded) const {
  return to_latent_(decoder_.step(h, cache, encoded.memories, encoded.memory_bias)).to(at::kFloat);
}

}  // namespace tessera::seq2seq
