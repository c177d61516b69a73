#pragma once

#include "seq2seq/seq2seq.h"

#include <tessera/process/family.h>
#include <tessera/process/sampler.h>

namespace tessera::seq2seq {

// The target lengths that can be predicted, relative to the source, end symbols included.
struct LengthClasses {
  static constexpr int64_t kCount = 256, kOffset = 128;
};

// Sequence-to-sequence diffusion of any family: generates all target positions at once from noise,
// in a predicted length.
class Diffusion final : public Seq2Seq {
 public:
  //   family  none: the paper's, as the options say
  Diffusion(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable,
            at::Device device, nn::Precision precision, const nn::Start& start,
            const FamilyMaker& family = {});

  const Family* family() const override { return family_.get(); }

  Draws draw(const TrainingStreams& streams, int64_t rows, int64_t length) const override;
  // Variant 1: with self-conditioning, for all rows.
  int64_t variants() const override { return 2; }
  int64_t variant(double chance) const override;
  nn::TrainingLoss loss(const Seq2SeqBatch& batch, const Draws& draws, int64_t variant,
                        nn::Mode mode) override;
  std::span<const std::string_view> measures() const override { return measures_; }
  void updated(int64_t updates) override { family_->updated(updates); }
  safetensors::Tensors state() const override { return family_->state(); }
  void restore(const safetensors::File& file, const std::string& prefix) override {
    family_->restore(file, prefix);
  }

  void generate(const GenerationOptions& options, const GenerateHooks& hooks,
                std::span<const SourceSentence> sentences,
                std::span<Generated> results) const override;
  void check(const GenerationOptions& options) const override;
  std::string effort(const GenerationOptions& options) const override;
  std::string summary() const override;

  // [B, 256]: class c says target = source + c - 128, end symbols included
  at::Tensor length_scores(const Encoded& encoded, nn::Mode mode = nn::Mode::inference) const;

  Denoiser denoiser(const Encoded& encoded, const at::Tensor& visible,
                    nn::Mode mode = nn::Mode::inference) const override;

 private:
  at::Tensor decode(const at::Tensor& x, const at::Tensor& time, const at::Tensor& previous,
                    const at::Tensor& bias, const Encoded& encoded, nn::Mode mode) const;
  at::Tensor length_loss(const Encoded& encoded, const at::Tensor& source, const at::Tensor& target,
                         nn::Mode mode) const;

  nn::Linear time_in_, time_out_;
  nn::Linear condition_in_, condition_out_;
  nn::Linear length_;
  std::unique_ptr<Family> family_;
  std::vector<std::string_view> measures_;  // the family's, and the length's
};

}  // namespace tessera::seq2seq
