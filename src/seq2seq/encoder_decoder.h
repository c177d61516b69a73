#pragma once

#include "nn/layers.h"
#include "nn/transformer.h"
#include "seq2seq/seq2seq_options.h"

#include <optional>

namespace tessera::seq2seq {

// Source sentences after the encoder.
struct Encoded {
  at::Tensor states;                 // [B, S, width]
  std::vector<nn::Memory> memories;  // of every decoder layer, [B, heads, S, ...]; joined: none
  at::Tensor memory_bias;            // [B, 1, 1, S]
  at::Tensor visible;                // [B, S] bool
  at::Tensor entered = {};           // [B, S, width] joined: the source, as it goes into the stack
};

// The network that models of all kinds share. It maps points of the latent space to points, with
// one Transformer that reads the source, and one that reads the source and the target. Or one
// Transformer does both: it reads the source alone (for lengths), and then source and target as one
// sequence.
class EncoderDecoder {
 public:
  EncoderDecoder(nn::Parameters& parameters, const NetworkOptions& options);

  //   points   [B, S, latent] codes of the source
  //   visible  [B, S] bool, at least one true per row
  Encoded encode(const at::Tensor& points, const at::Tensor& visible, nn::Mode mode) const;

  at::Tensor from_latent(const at::Tensor& points) const {
    return from_latent_(points);
  }  // -> [..., width]

  // The input of decode(): the target's states with their positions, after normalisation and
  // dropout.
  //   h  [B * n, L, width], `first` the position of its first state
  at::Tensor with_positions(const at::Tensor& h, int64_t first, nn::Mode mode) const;

  //   h     [B * n, L, width]: rows b*n .. b*n + n-1 belong to source sentence b
  //   bias  [B * n or 1, 1, 1 or L, L]
  //   clock    [B * n, width] is added to the states of a source that is read together with the
  //            target (those of the target already contain it); undefined: nothing is added
  //   returns  [B * n, L, latent] float32
  at::Tensor decode(const at::Tensor& h, const at::Tensor& bias, const Encoded& encoded,
                    nn::Mode mode, const at::Tensor& clock = {}) const;

  // The same for one position at a time.   h [B * n, 1, width]
  at::Tensor decode_step(const at::Tensor& h, nn::KeyCache& cache, const Encoded& encoded) const;
  nn::KeyCache cache(int64_t rows, int64_t room) const;

  // See nn::Transformer.
  void use_int8();

  // The type that products are computed in; in int8 that of their results.
  at::ScalarType dtype() const { return from_latent_.weight->scalar_type(); }

 private:
  double dropout_;
  at::Tensor decode_joined(const at::Tensor& h, const at::Tensor& bias, const Encoded& encoded,
                           nn::Mode mode, const at::Tensor& clock) const;

  nn::Transformer encoder_;
  std::optional<nn::Transformer> decoder_;  // none: the encoder reads source and target as one
  nn::Linear from_latent_, to_latent_;
  nn::Positions source_positions_, target_positions_;
  nn::LayerNorm source_norm_, target_norm_;
};

// How weights outside the Transformer's layers begin. Inside, their standard deviation is 0.02, as
// in BERT. Outside, that would be too small: the signal of a symbol would be weaker than the time
// that is added to it.
nn::Initial outside_layers(int64_t inputs);

}  // namespace tessera::seq2seq
