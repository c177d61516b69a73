#pragma once

#include "model/seq2seq.h"

namespace tessera::model {

// The Transformer that writes a target from left to right, one symbol at a time. Its embedding is
// that of source, target and output alike.
class Autoregressive final : public Seq2Seq {
 public:
  Autoregressive(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable,
                 at::Device device, nn::Precision precision, const nn::Start& start);

  nn::Draws draw(const StreamId&, const StreamId&, int64_t, int64_t) const override { return {}; }
  nn::TrainingLoss loss(const Seq2SeqBatch& batch, const nn::Draws& draws, bool self_condition,
                        nn::Mode mode) override;
  double self_conditioning() const override { return 0; }
  std::span<const std::string_view> measures() const override;

  // Log-probabilities of given targets, symbol by symbol; 0 where there is padding, -inf for
  // symbols that are never written.
  //   target   [B * n, L] int64, with end symbols: rows b*n .. belong to source sentence b
  //   returns  [B * n, L] float32
  at::Tensor log_probabilities(const Encoded& encoded, const at::Tensor& target) const;

  // What is kept of targets that are being written, of at most `room` symbols.
  nn::KeyCache start(int64_t rows, int64_t room) const;

  // Takes the symbols before, gives the scores of those that come next.
  //   last     [B * n] int64; before the first symbol, the begin symbol
  //   returns  [B * n, symbols] float32, -inf for those that cannot come
  at::Tensor next_scores(nn::KeyCache& cache, const at::Tensor& last, const Encoded& encoded) const;

 private:
  // [B * n, L] the symbols -> [B * n, L, latent] the points whose scores are those of the next ones
  at::Tensor read(const at::Tensor& symbols, const Encoded& encoded, nn::Mode mode) const;
};

}  // namespace tessera::model
