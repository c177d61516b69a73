#include "seq2seq/seq2seq.h"

#include "base/require.h"
#include "seq2seq/autoregressive.h"
#include "seq2seq/diffusion.h"
#include "text/dictionary.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace tessera::seq2seq {

at::Tensor visible_keys(const at::Tensor& ids) {
  at::Tensor visible = ids.ne(text::Dictionary::kPad);
  visible.select(1, 0).fill_(true);
  return visible;
}

namespace {

// Codes that are not normalised start with the length of noise, sqrt(d).
nn::Initial first_codes(const Seq2SeqOptions& options) {
  if (options.normalise == Normalise::none) return nn::Initial::normal(1);
  return nn::Initial::normal(1 / std::sqrt(options.network.latent));
}

}  // namespace

Seq2SeqBatch Seq2SeqBatch::of(const nn::Inputs& inputs) {
  return {inputs.at(0), inputs.at(1)};
}

Seq2SeqBatch Seq2SeqBatch::of(const corpus::Batch& batch) {
  const auto& [rows, source, target] = batch.shape;
  return {at::tensor(batch.source, at::kLong).view({rows, source}),
          at::tensor(batch.target, at::kLong).view({rows, target})};
}

Seq2Seq::Seq2Seq(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable)
    : options_(options),
      undecodable_(std::move(undecodable)),
      embedding_(parameters_.add("embedding", {symbols, options.network.latent},
                                 first_codes(options), nn::Use::codes)),
      output_bias_(options.output_bias ? parameters_.add("output_bias", {symbols},
                                                         nn::Initial::zeros(), nn::Use::codes)
                                       : nn::Weight()),
      network_(parameters_, options.network) {}

void Seq2Seq::allocate(at::Device device, nn::Precision precision, const nn::Start& start) {
  parameters_.allocate(device, precision, start);
  if (precision == nn::Precision::int8) network_.use_int8();
  // Without a gradient: autograd would tie the codes to the stream that is current now.
  const c10::NoGradGuard no_grad;
  codebook_.emplace(*embedding_, EmbeddingTableOptions{options_.normalise, undecodable_},
                    output_bias_.defined() ? *output_bias_ : at::Tensor());
}

void Seq2Seq::refresh() {
  parameters_.publish();
  const c10::NoGradGuard no_grad;
  codebook_->refresh();
}

Draws Seq2Seq::draw_for(const nn::Inputs& inputs, const TrainingStreams& streams) const {
  const Seq2SeqBatch batch = Seq2SeqBatch::of(inputs);
  return draw(streams, batch.target.size(0), batch.target.size(1));
}

nn::TrainingLoss Seq2Seq::loss_of(const nn::Inputs& inputs, const Draws& draws, int64_t variant,
                                  nn::Mode mode) {
  return loss(Seq2SeqBatch::of(inputs), draws, variant, mode);
}

at::Tensor Seq2Seq::log_probabilities(const Encoded& /*encoded*/,
                                      const at::Tensor& /*target*/) const {
  throw Error("this model has no probabilities of sentences");
}

Denoiser Seq2Seq::denoiser(const Encoded& /*encoded*/, const at::Tensor& /*visible*/,
                           nn::Mode /*mode*/) const {
  throw Error("this model writes from left to right: it has no noise to remove");
}

Encoded Seq2Seq::encode(const at::Tensor& source, nn::Mode mode) const {
  return network_.encode(codebook_->encode(source), visible_keys(source), mode);
}

std::unique_ptr<Seq2Seq> make_seq2seq(const Seq2SeqOptions& options, int64_t symbols,
                                      std::vector<int64_t> undecodable, at::Device device,
                                      nn::Precision precision, const nn::Start& start) {
  require_option(
      options.kind != ModelKind::autoregressive || options.network.reading == Reading::cross,
      "model.reading = \"joined\" is for diffusion: a model of kind \"ar\" reads the "
      "source with an encoder (cross)");
  if (options.kind == ModelKind::autoregressive)
    return std::make_unique<Autoregressive>(options, symbols, std::move(undecodable), device,
                                            precision, start);
  FamilyMaker family;  // none: the paper's
  if (options.kind == ModelKind::symbols)
    family = [&](const Codebook& codebook) {
      // No target contains the begin symbol, so it can serve as the mask.
      return std::make_unique<SymbolFamily>(codebook, options.symbols, text::Dictionary::kBos);
    };
  return std::make_unique<Diffusion>(options, symbols, std::move(undecodable), device, precision,
                                     start, family);
}

}  // namespace tessera::seq2seq
