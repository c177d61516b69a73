#pragma once

#include "corpus/batcher.h"
#include "nn/trainable.h"
#include "seq2seq/encoder_decoder.h"
#include "seq2seq/generated.h"
#include "seq2seq/generation_batches.h"
#include "seq2seq/generation_options.h"
#include "seq2seq/seq2seq_options.h"

#include <tessera/codebook/embedding_table.h>

#include <memory>
#include <optional>
#include <string>

namespace tessera::seq2seq {

// A batch on the device. Ids are padded with text::Dictionary::kPad; a row may be all padding.
struct Seq2SeqBatch {
  at::Tensor source;  // [B, S] int64
  at::Tensor target;  // [B, L] int64

  static Seq2SeqBatch of(const nn::Inputs& inputs);
  static Seq2SeqBatch of(const corpus::Batch& batch);  // on the host
  nn::Inputs inputs() const { return {source, target}; }
};

// A sequence-to-sequence model that can be trained: one embedding for both languages, which is a
// codebook, and an encoder-decoder over it. The kind decides what the decoder does: Diffusion or
// Autoregressive. Only make_seq2seq() knows which kinds there are.
class Seq2Seq : public nn::Trainable {
 public:
  const Seq2SeqOptions& options() const { return options_; }
  const EmbeddingTable& codebook() const { return *codebook_; }
  const std::vector<int64_t>& undecodable() const { return undecodable_; }

  void refresh() final;
  Draws draw_for(const nn::Inputs& inputs, const TrainingStreams& streams) const final;
  nn::TrainingLoss loss_of(const nn::Inputs& inputs, const Draws& draws, int64_t variant,
                           nn::Mode mode) final;

  // The same with named inputs; every kind of model implements them.
  virtual Draws draw(const TrainingStreams& streams, int64_t rows, int64_t length) const = 0;
  virtual nn::TrainingLoss loss(const Seq2SeqBatch& batch, const Draws& draws, int64_t variant,
                                nn::Mode mode) = 0;

  // Fills in the results of the sentences. Throws UsageError for options that make no sense;
  // check() throws it without generating.
  virtual void generate(const GenerationOptions& options, const GenerateHooks& hooks,
                        std::span<const SourceSentence> sentences,
                        std::span<Generated> results) const = 0;
  virtual void check(const GenerationOptions& options) const = 0;

  // The work for a sentence, for people: "5 lengths x 1 noise, blend".
  virtual std::string effort(const GenerationOptions& options) const = 0;

  virtual std::string summary() const = 0;  // how it writes, in a few words: "that writes ..."

  // The diffusion that it learns; nullptr if it writes from left to right.
  virtual const Family* family() const { return nullptr; }

  // The network for its family, if the model has one. Rows b*n .. b*n + n-1 of its x belong to
  // source sentence b.
  //   visible [B * n, L] bool: positions before the end of the target, at least one a row
  // `encoded` must outlive it.
  virtual Denoiser denoiser(const Encoded& encoded, const at::Tensor& visible,
                            nn::Mode mode = nn::Mode::inference) const;

  // Log-probabilities of given targets, symbol by symbol, for models that have them; 0 at padding,
  // -inf for symbols that are never written.
  //   target   [B * n, L] int64, with end symbols: rows b*n .. belong to source sentence b
  //   returns  [B * n, L] float32
  virtual bool has_probabilities() const { return false; }
  virtual at::Tensor log_probabilities(const Encoded& encoded, const at::Tensor& target) const;

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
  nn::Weight embedding_;    // [symbols, d]
  nn::Weight output_bias_;  // [symbols], or not defined
  std::optional<EmbeddingTable> codebook_;

 protected:
  EncoderDecoder network_;
};

// A model of the kind its options name.
std::unique_ptr<Seq2Seq> make_seq2seq(const Seq2SeqOptions& options, int64_t symbols,
                                      std::vector<int64_t> undecodable, at::Device device,
                                      nn::Precision precision, const nn::Start& start);

// Positions attention may look at, [B, L] bool. A row of only padding shows its first one, because
// a softmax over nothing is NaN.
at::Tensor visible_keys(const at::Tensor& ids);

}  // namespace tessera::seq2seq
