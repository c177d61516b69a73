#pragma once

#include "model/encoder_decoder.h"
#include "model/seq2seq_options.h"

#include <tessera/base/random.h>
#include <tessera/codebook/embedding_table.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace tessera::model {

// A batch on the device. Ids are padded with text::Dictionary::kPad; a row may be all padding.
struct Seq2SeqBatch {
  at::Tensor source;  // [B, S] int64
  at::Tensor target;  // [B, L] int64
};

// The random numbers of a training step, drawn before it; undefined where a model needs none.
struct Draws {
  at::Tensor t;    // [B]        time of every sample, in {1 .. T}
  at::Tensor eps;  // [B, L, d]  noise
};

struct Seq2SeqLoss {
  at::Tensor total;     // scalar, carries the gradient
  at::Tensor measures;  // [n] float32, for people: what measures() names
};

// A sequence-to-sequence model that can be trained: one embedding for both languages, which is a
// codebook, and an encoder-decoder over it. What the decoder does is a matter of the kind:
// Diffusion or Autoregressive.
class Seq2Seq {
 public:
  virtual ~Seq2Seq() = default;
  Seq2Seq(const Seq2Seq&) = delete;
  Seq2Seq& operator=(const Seq2Seq&) = delete;

  const Seq2SeqOptions& options() const { return options_; }
  const EmbeddingTable& codebook() const { return *codebook_; }
  const std::vector<int64_t>& undecodable() const { return undecodable_; }
  nn::Parameters& parameters() { return parameters_; }
  const nn::Parameters& parameters() const { return parameters_; }
  at::Device device() const { return parameters_.device(); }

  // To be called after the weights have changed.
  void refresh();

  // The numbers of a step: functions of (seed, step, row).
  virtual Draws draw(const StreamId& noise, const StreamId& time, int64_t rows,
                     int64_t length) const = 0;

  // Training loss of a batch. Reads the weights anew: no refresh() needed before.
  //   self_condition  whether the network sees an estimate of its own first
  virtual Seq2SeqLoss loss(const Seq2SeqBatch& batch, const Draws& draws, bool self_condition,
                           nn::Mode mode) = 0;

  // Share of the updates with self_condition.
  virtual double self_conditioning() const = 0;

  // Names of what a loss measures.
  virtual std::span<const std::string_view> measures() const = 0;

  // For generation.   source [B, S] int64
  Encoded encode(const at::Tensor& source, nn::Mode mode = nn::Mode::inference) const;

 protected:
  // A kind adds its own parts to parameters_, then calls allocate().
  //   undecodable: symbols nothing decodes to (padding, begin, symbols targets never use).
  Seq2Seq(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable);
  void allocate(at::Device device, nn::Precision precision, uint64_t seed);

  EmbeddingTable& trained_codebook() { return *codebook_; }

  nn::Parameters parameters_;

 private:
  Seq2SeqOptions options_;
  std::vector<int64_t> undecodable_;
  nn::Weight embedding_;  // [symbols, d]
  std::optional<EmbeddingTable> codebook_;

 protected:
  EncoderDecoder network_;
};

// A model of the kind its options name, with new weights.
std::unique_ptr<Seq2Seq> make_seq2seq(const Seq2SeqOptions& options, int64_t symbols,
                                      std::vector<int64_t> undecodable, at::Device device,
                                      nn::Precision precision, uint64_t seed);

// Positions attention may look at, [B, L] bool. A row of padding alone shows its first one: softmax
// over nothing is not a number.
at::Tensor visible_keys(const at::Tensor& ids);

}  // namespace tessera::model
