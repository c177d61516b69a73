#pragma once

#include "model/encoder_decoder.h"
#include "model/seq2seq_options.h"
#include "nn/trainable.h"
#include "text/batcher.h"

#include <tessera/codebook/embedding_table.h>

#include <memory>
#include <optional>

namespace tessera::model {

// A batch on the device. Ids are padded with text::Dictionary::kPad; a row may be all padding.
struct Seq2SeqBatch {
  at::Tensor source;  // [B, S] int64
  at::Tensor target;  // [B, L] int64

  static Seq2SeqBatch of(const nn::Inputs& inputs);
  static Seq2SeqBatch of(const text::Batch& batch);  // on the host
  nn::Inputs inputs() const { return {source, target}; }
};

// A sequence-to-sequence model that can be trained: one embedding for both languages, which is a
// codebook, and an encoder-decoder over it. What the decoder does is a matter of the kind:
// Diffusion or Autoregressive.
class Seq2Seq : public nn::Trainable {
 public:
  const Seq2SeqOptions& options() const { return options_; }
  const EmbeddingTable& codebook() const { return *codebook_; }
  const std::vector<int64_t>& undecodable() const { return undecodable_; }

  void refresh() final;
  nn::Draws draw_for(const nn::Inputs& inputs, const StreamId& noise,
                     const StreamId& time) const final;
  nn::TrainingLoss loss_of(const nn::Inputs& inputs, const nn::Draws& draws, bool self_condition,
                           nn::Mode mode) final;

  // The same with names: what a kind of model implements.
  virtual nn::Draws draw(const StreamId& noise, const StreamId& time, int64_t rows,
                         int64_t length) const = 0;
  virtual nn::TrainingLoss loss(const Seq2SeqBatch& batch, const nn::Draws& draws,
                                bool self_condition, nn::Mode mode) = 0;

  // For generation.   source [B, S] int64
  Encoded encode(const at::Tensor& source, nn::Mode mode = nn::Mode::inference) const;

 protected:
  // A kind adds its own parts to parameters_, then calls allocate().
  //   undecodable: symbols nothing decodes to (padding, begin, symbols targets never use).
  Seq2Seq(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable);
  void allocate(at::Device device, nn::Precision precision, const nn::Start& start);

  EmbeddingTable& trained_codebook() { return *codebook_; }

 private:
  Seq2SeqOptions options_;
  std::vector<int64_t> undecodable_;
  nn::Weight embedding_;  // [symbols, d]
  std::optional<EmbeddingTable> codebook_;

 protected:
  EncoderDecoder network_;
};

// A model of the kind its options name.
std::unique_ptr<Seq2Seq> make_seq2seq(const Seq2SeqOptions& options, int64_t symbols,
                                      std::vector<int64_t> undecodable, at::Device device,
                                      nn::Precision precision, const nn::Start& start);

// Positions attention may look at, [B, L] bool. A row of padding alone shows its first one: softmax
// over nothing is not a number.
at::Tensor visible_keys(const at::Tensor& ids);

}  // namespace tessera::model
