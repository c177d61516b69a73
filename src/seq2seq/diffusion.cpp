#include "seq2seq/diffusion.h"

#include "base/numerals.h"
#include "nn/time_embedding.h"
#include "process/masked_mean.h"
#include "seq2seq/diffusion_generation.h"
#include "text/dictionary.h"

#include <tessera/process/boundary_family.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

namespace tessera::seq2seq {
namespace {

constexpr int64_t kPad = text::Dictionary::kPad;

std::unique_ptr<Family> boundary_family(const Codebook& codebook, const Seq2SeqOptions& options) {
  return std::make_unique<BoundaryFamily>(
      codebook, BoundaryFamilyOptions{.process = options.process,
                                      .objective = options.objective,
                                      .condition_on = options.condition_on,
                                      .adaptive = options.adaptive});
}

}  // namespace

Diffusion::Diffusion(const Seq2SeqOptions& options, int64_t symbols,
                     std::vector<int64_t> undecodable, at::Device device, nn::Precision precision,
                     const nn::Start& start, const FamilyMaker& family)
    : Seq2Seq(options, symbols, std::move(undecodable)) {
  const int64_t width = options.network.transformer.width;
  const auto linear = [&](const char* name, int64_t inputs, int64_t outputs) {
    return nn::Linear(parameters_, name, inputs, outputs, /*bias=*/true, outside_layers(inputs));
  };
  time_in_ = linear("time.in", width, 4 * width);
  time_out_ = linear("time.out", 4 * width, width);
  condition_in_ = linear("condition.in", 2 * width, width);
  condition_out_ = linear("condition.out", width, width);
  length_ = nn::Linear(parameters_, "length", width, LengthClasses::kCount);
  allocate(device, precision, start);
  family_ = family ? family(codebook()) : boundary_family(codebook(), options);
  measures_.assign(family_->measures().begin(), family_->measures().end());
  measures_.push_back("length");
}

Draws Diffusion::draw(const TrainingStreams& streams, int64_t rows, int64_t length) const {
  const at::Tensor samples =
      at::arange(rows, at::TensorOptions().device(device()).dtype(at::kLong));
  return family_->draw(streams, samples, {length});
}

int64_t Diffusion::variant(double chance) const {
  return chance < options().self_conditioning ? 1 : 0;
}

void Diffusion::generate(const GenerationOptions& options, const GenerateHooks& hooks,
                         std::span<const SourceSentence> sentences,
                         std::span<Generated> results) const {
  generate_by_diffusion(*this, options, hooks, sentences, results);
}

void Diffusion::check(const GenerationOptions& options) const {
  family_->calls(options.sampler);
}

std::string Diffusion::effort(const GenerationOptions& options) const {
  return fmt::format("{} x {}, {}", counted(options.lengths, "length"),
                     counted(options.noises, "noise"), name_of(options.selection));
}

std::string Diffusion::summary() const {
  return "of " + family_->summary();
}

at::Tensor Diffusion::length_scores(const Encoded& encoded, nn::Mode mode) const {
  const at::Tensor& visible = encoded.visible;
  at::Tensor mean =
      (encoded.states * visible.unsqueeze(-1)).sum(1) / visible.sum(1, /*keepdim=*/true);
  // The length head soon memorises the lengths of a small corpus, which harms the encoder.
  if (!options().length_gradient)
    mean = nn::dropout(mean.detach(), options().network.transformer.dropout, mode);
  return length_(mean).to(at::kFloat);
}

at::Tensor Diffusion::decode(const at::Tensor& x, const at::Tensor& time,
                             const at::Tensor& previous, const at::Tensor& bias,
                             const Encoded& encoded, nn::Mode mode) const {
  const nn::TransformerOptions& transformer = options().network.transformer;
  const at::Tensor told =
      network_time(time, family_->horizon());  // [B]: t, never the elements' tau
  const at::Tensor clock =
      time_out_(at::silu(time_in_(nn::time_embedding(told, transformer.width))));

  at::Tensor h =
      condition_in_(at::cat({network_.from_latent(x), network_.from_latent(previous)}, -1));
  h = nn::dropout(condition_out_(h.relu()), transformer.dropout, mode);
  return network_.decode(network_.with_positions(h + clock.unsqueeze(1), 0, mode), bias, encoded,
                         mode, clock);
}

Denoiser Diffusion::denoiser(const Encoded& encoded, const at::Tensor& visible,
                             nn::Mode mode) const {
  const at::Tensor bias = nn::key_bias(visible, network_.dtype());
  return [this, &encoded, bias, mode](const at::Tensor& x, const at::Tensor& t,
                                      const at::Tensor& previous) {
    return decode(x, t, previous, bias, encoded, mode);
  };
}

at::Tensor Diffusion::length_loss(const Encoded& encoded, const at::Tensor& source,
                                  const at::Tensor& target, nn::Mode mode) const {
  const at::Tensor lengths = target.ne(kPad).sum(1);
  const at::Tensor classes = (lengths - source.ne(kPad).sum(1) + LengthClasses::kOffset)
                                 .clamp(0, LengthClasses::kCount - 1);
  const at::Tensor losses =
      at::cross_entropy_loss(length_scores(encoded, mode), classes, {}, at::Reduction::None,
                             /*ignore_index=*/-100, options().objective.label_smoothing);
  return masked_mean(losses, lengths.gt(0));
}

nn::TrainingLoss Diffusion::loss(const Seq2SeqBatch& batch, const Draws& draws, int64_t variant,
                                 nn::Mode mode) {
  trained_codebook().refresh();  // with a gradient: codes are trained
  const Encoded encoded = encode(batch.source, mode);
  const at::Tensor present = batch.target.ne(kPad);
  const Denoiser network = denoiser(encoded, visible_keys(batch.target), mode);
  const int64_t self_conditioned = variant == 1 ? batch.target.size(0) : 0;
  const FamilyLoss learnt = training_loss(*family_, network, batch.target, present, draws,
                                          self_conditioned, options().condition_loss);
  if (mode == nn::Mode::training) family_->observe(learnt);
  const at::Tensor length = length_loss(encoded, batch.source, batch.target, mode);

  nn::TrainingLoss loss;
  loss.total = learnt.total + options().length_weight * length;
  loss.measures = at::cat({learnt.measures, length.detach().view({1})});
  loss.elements = present.sum().to(at::kFloat);
  return loss;
}

}  // namespace tessera::seq2seq
