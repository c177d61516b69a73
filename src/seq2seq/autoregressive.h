#pragma once

#include "seq2seq/seq2seq.h"

namespace tessera::seq2seq {

// The Transformer that writes a target from left to right, one symbol at a time. Source, target and
// output share one embedding.
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

  // An empty cache for targets of at most `room` symbols that are about to be written.
  nn::KeyCache start(int64_t rows, int64_t room) const;

  // Takes the previous symbols and returns the scores of the next ones.
  //   last     [B * n] int64; before the first symbol, the begin symbol
  //   returns  [B * n, symbols] float32, -inf for symbols that cannot come next
  at::Tensor next_scores(nn::KeyCache& cache, const at::Tensor& last, const Encoded& encoded) const;

 private:
  // [B * n, L] symbols -> [B * n, L, latent] points, whose scores are those of the next symbols
  at::Tensor read(const at::Tensor& symbols, const Encoded& encoded, nn::Mode mode) const;
};

}  // namespace tessera::seq2seq
