#pragma once

#include "model/seq2seq.h"

#include <tessera/process/sampler.h>

namespace tessera::model {

// The lengths a source may have translations of, end symbols included.
struct LengthClasses {
  static constexpr int64_t kCount = 256, kOffset = 128;
};

// Sequence-to-sequence diffusion: all target positions at once, out of noise, in a length that is
// predicted.
class Diffusion final : public Seq2Seq {
 public:
  Diffusion(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable,
            at::Device device, nn::Precision precision, const nn::Start& start);

  const Process& process() const { return process_; }

  nn::Draws draw(const StreamId& noise, const StreamId& time, int64_t rows,
                 int64_t length) const override;

  // Algorithm 1.
  nn::TrainingLoss loss(const Seq2SeqBatch& batch, const nn::Draws& draws, bool self_condition,
                        nn::Mode mode) override;
  double self_conditioning() const override { return options().self_conditioning; }
  std::span<const std::string_view> measures() const override;

  // [B, 256]: class c says target = source + c - 128, end symbols included
  at::Tensor length_scores(const Encoded& encoded, nn::Mode mode = nn::Mode::inference) const;

  // A sampler's options with what the model was trained with: what self-conditioning shows, and the
  // scale of scores.
  SamplerOptions sampler_options(SamplerOptions options) const;

  // The network for a sampler. Rows b*n .. b*n + n-1 of its x belong to source sentence b.
  //   visible [B * n, L] bool: positions before the end of the target, at least one a row
  // `encoded` must outlive it.
  Denoiser denoiser(const Encoded& encoded, const at::Tensor& visible) const;

 private:
  at::Tensor decode(const at::Tensor& x, const at::Tensor& time, const at::Tensor& previous,
                    const at::Tensor& bias, const Encoded& encoded, nn::Mode mode) const;
  at::Tensor length_loss(const Encoded& encoded, const at::Tensor& source, const at::Tensor& target,
                         nn::Mode mode) const;

  Process process_;
  nn::Linear time_in_, time_out_;
  nn::Linear condition_in_, condition_out_;
  nn::Linear length_;
};

}  // namespace tessera::model
