#include "seq2seq/autoregressive.h"

#include "base/require.h"
#include "process/masked_mean.h"
#include "seq2seq/beam_search.h"
#include "text/dictionary.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <limits>

namespace tessera::seq2seq {
namespace {

using text::Dictionary;

constexpr std::array<std::string_view, 1> kMeasures{"cross_entropy"};

// The symbol before each symbol of a target; before the first, the begin symbol.
at::Tensor shifted(const at::Tensor& target) {
  const at::Tensor begin =
      at::full({target.size(0), 1}, int64_t{Dictionary::kBos}, target.options());
  return at::cat({begin, target.narrow(1, 0, target.size(1) - 1)}, 1);
}

}  // namespace

Autoregressive::Autoregressive(const Seq2SeqOptions& options, int64_t symbols,
                               std::vector<int64_t> undecodable, at::Device device,
                               nn::Precision precision, const nn::Start& start)
    : Seq2Seq(options, symbols, std::move(undecodable)) {
  allocate(device, precision, start);
}

std::span<const std::string_view> Autoregressive::measures() const {
  return kMeasures;
}

at::Tensor Autoregressive::read(const at::Tensor& symbols, const Encoded& encoded,
                                nn::Mode mode) const {
  const at::Tensor h = network_.from_latent(codebook().encode(symbols));
  const at::Tensor bias = nn::causal_bias(symbols.size(1), h.options());
  return network_.decode(network_.with_positions(h, 0, mode), bias, encoded, mode);
}

nn::TrainingLoss Autoregressive::loss(const Seq2SeqBatch& batch, const Draws& /*draws*/,
                                      int64_t /*variant*/, nn::Mode mode) {
  trained_codebook().refresh();  // with a gradient: codes are trained
  const Encoded encoded = encode(batch.source, mode);
  const at::Tensor points = read(shifted(batch.target), encoded, mode);
  const at::Tensor losses =
      codebook().cross_entropy(points, batch.target, options().objective.label_smoothing);
  const at::Tensor present = batch.target.ne(Dictionary::kPad);
  nn::TrainingLoss loss;
  loss.total = masked_mean(losses, present);
  loss.measures = loss.total.detach().unsqueeze(0);
  loss.elements = present.sum().to(at::kFloat);
  return loss;
}

void Autoregressive::generate(const GenerationOptions& options, const GenerateHooks& hooks,
                              std::span<const SourceSentence> sentences,
                              std::span<Generated> results) const {
  generate_by_search(*this, options, hooks, sentences, results);
}

void Autoregressive::check(const GenerationOptions& options) const {
  require_option(options.selection != Selection::staged,
                 "the selection 'staged' is not for autoregressive models: their candidates are "
                 "not made length by length");
}

std::string Autoregressive::effort(const GenerationOptions& options) const {
  const std::string how = options.temperature > 0 ? fmt::format("{} drawn at temperature {}",
                                                                options.beam, options.temperature)
                          : options.beam == 1     ? "greedy"
                                                  : fmt::format("beam {}", options.beam);
  // The results of a search are in order already, unless another model chooses.
  const bool ranked = options.temperature == 0 && options.selection != Selection::rerank;
  return ranked ? how : fmt::format("{}, {}", how, name_of(options.selection));
}

at::Tensor Autoregressive::log_probabilities(const Encoded& encoded,
                                             const at::Tensor& target) const {
  const at::Tensor points = read(shifted(target), encoded, nn::Mode::inference);
  const at::Tensor padding = target.eq(Dictionary::kPad);
  const at::Tensor unwritten = at::isin(target, at::tensor(undecodable(), target.options()));
  return codebook()
      .cross_entropy(points, target)
      .neg()
      .masked_fill(unwritten, -std::numeric_limits<double>::infinity())
      .masked_fill(padding, 0);
}

nn::KeyCache Autoregressive::start(int64_t rows, int64_t room) const {
  return network_.cache(rows, room);
}

at::Tensor Autoregressive::next_scores(nn::KeyCache& cache, const at::Tensor& last,
                                       const Encoded& encoded) const {
  const at::Tensor h = network_.from_latent(codebook().encode(last.unsqueeze(1)));
  const at::Tensor placed = network_.with_positions(h, cache.length(), nn::Mode::inference);
  const at::Tensor points = network_.decode_step(placed, cache, encoded);
  return codebook().scores(points.squeeze(1));
}

}  // namespace tessera::seq2seq
