#pragma once

#include "model/seq2seq_options.h"

#include <tessera/process/sampler.h>

#include <optional>

namespace tessera::model {

// A batch on the device. Ids are padded with text::Dictionary::kPad; a row may be all padding.
struct Seq2SeqBatch {
  at::Tensor source;  // [B, S] int64
  at::Tensor target;  // [B, L] int64
};

// The random numbers of a training step, drawn before it.
struct Draws {
  at::Tensor t;    // [B]        time of every sample, in {1 .. T}
  at::Tensor eps;  // [B, L, d]  noise
};

// Scalars; `total` carries the gradient. The others are for people.
struct Seq2SeqLoss {
  at::Tensor total, mse, cross_entropy, length;
  at::Tensor tau;      // mean tau / T
  at::Tensor outside;  // share of the tokens outside their own cell
};

// Source sentences, read.
struct Encoded {
  std::vector<nn::Memory> memories;  // of every decoder layer, [B, heads, S, ...]
  at::Tensor memory_bias;            // [B, 1, 1, S]
  at::Tensor length_scores;          // [B, 256]: class c says target = source + c - 128
  at::Tensor source_lengths;         // [B] int64, end symbol included
};

// The lengths a source may have translations of, end symbols included.
struct LengthClasses {
  static constexpr int64_t kCount = 256, kOffset = 128;
};

// A sequence-to-sequence diffusion model: process + codebook + encoder-decoder network. The codes
// are the embedding of both languages.
class Seq2Seq {
 public:
  // undecodable: symbols nothing decodes to (padding, begin, symbols targets never use).
  Seq2Seq(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable,
          at::Device device, nn::Precision precision, uint64_t seed);

  const Seq2SeqOptions& options() const { return options_; }
  const Process& process() const { return process_; }
  const EmbeddingTable& codebook() const { return *codebook_; }
  const std::vector<int64_t>& undecodable() const { return undecodable_; }
  nn::Parameters& parameters() { return parameters_; }
  const nn::Parameters& parameters() const { return parameters_; }
  at::Device device() const { return parameters_.device(); }

  // To be called after the weights have changed.
  void refresh();

  // The numbers of a step: functions of (seed, step, row).
  Draws draw(const StreamId& noise, const StreamId& time, int64_t rows, int64_t length) const;

  // Training loss of a batch (Algorithm 1). Reads the weights anew: no refresh() needed before.
  Seq2SeqLoss loss(const Seq2SeqBatch& batch, const Draws& draws, bool self_condition,
                   nn::Mode mode);

  // For generation.
  Encoded encode(const at::Tensor& source, nn::Mode mode = nn::Mode::inference) const;

  // The network for a sampler. Rows b*n .. b*n + n-1 of its x belong to source sentence b.
  //   visible [B * n, L] bool: positions before the end of the target, at least one a row
  // `encoded` must outlive it.
  Denoiser denoiser(const Encoded& encoded, const at::Tensor& visible) const;

 private:
  at::Tensor decode(const at::Tensor& x, const at::Tensor& time, const at::Tensor& previous,
                    const at::Tensor& bias, const Encoded& encoded, nn::Mode mode) const;

  Seq2SeqOptions options_;
  std::vector<int64_t> undecodable_;
  Process process_;

  nn::Parameters parameters_;
  nn::Weight embedding_;  // [symbols, d]
  nn::Linear enter_, leave_;
  nn::Positions source_positions_, target_positions_;
  nn::LayerNorm source_norm_, target_norm_;
  nn::Linear time_in_, time_out_;
  nn::Linear condition_in_, condition_out_;
  nn::Linear length_;
  nn::Transformer encoder_, decoder_;

  std::optional<EmbeddingTable> codebook_;
};

}  // namespace tessera::model
