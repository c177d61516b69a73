#pragma once

#include "seq2seq/seq2seq.h"

namespace tessera::seq2seq {

// The Transformer that writes a target from left to right, one symbol at a time. Its embedding is
// that of source, target and output alike.
class Autoregressive final : public Seq2Seq {
 public:
  Autoregressive(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable,
                 at::Device device, nn::Precision precision, const nn::Start& start);

  Draws draw(const TrainingStreams&, int64_t, int64_t) const override { return {}; }
  nn::TrainingLoss loss(const Seq2SeqBatch& batch, const Draws& draws, int64_t variant,
                        nn::Mode mode) override;
  std::span<const std::string_view> measures() const override;

  void generate(const GenerationOptions& options, const GenerateHooks& hooks,
                std::span<const SourceSentence> sentences,
                std::span<Generated> results) const override;
  void check(const GenerationOptions& options) const override;
  std::string effort(const GenerationOptions& options) const override;
  std::string summary() const override { return "that writes from left to right"; }

  bool has_probabilities() const override { return true; }
  at::Tensor log_probabilities(const Encoded& encoded, const at::Tensor& target) const override;

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

}  // namespace tessera::seq2seq
