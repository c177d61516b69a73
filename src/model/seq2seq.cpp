#include "model/seq2seq.h"

#include "base/require.h"
#include "nn/time_embedding.h"
#include "process/masked_mean.h"
#include "text/dictionary.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace tessera::model {
namespace {

constexpr int64_t kPad = text::Dictionary::kPad;

// Positions attention may look at. A row of padding alone shows its first one: softmax over nothing
// is not a number.
at::Tensor visible_keys(const at::Tensor& ids) {
  at::Tensor visible = ids.ne(kPad);
  visible.select(1, 0).fill_(true);
  return visible;
}

// Inside the layers weights start with a deviation of 0.02, as BERT's. Before and behind them that
// would be too small: what a symbol says would be weaker than the time that is added to it.
nn::Initial outside_layers(int64_t inputs) {
  return nn::Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(inputs)));
}

}  // namespace

Seq2Seq::Seq2Seq(const Seq2SeqOptions& options, int64_t symbols, std::vector<int64_t> undecodable,
                 at::Device device, nn::Precision precision, uint64_t seed)
    : options_(options),
      undecodable_(std::move(undecodable)),
      process_(options.process),
      embedding_(parameters_.add("embedding", {symbols, options.network.latent},
                                 nn::Initial::normal(1 / std::sqrt(options.network.latent)),
                                 nn::Use::codes)),
      encoder_(parameters_, "encoder", nn::Transformer::Kind::encoder, options.network.transformer),
      decoder_(parameters_, "decoder", nn::Transformer::Kind::decoder,
               options.network.transformer) {
  const int64_t latent = options.network.latent, width = options.network.transformer.width;
  require_option(width % 2 == 0, "model.width must be even, got {}", width);
  const auto linear = [&](const char* name, int64_t inputs, int64_t outputs, bool bias = true) {
    return nn::Linear(parameters_, name, inputs, outputs, bias, outside_layers(inputs));
  };
  enter_ = linear("enter", latent, width, /*bias=*/false);
  leave_ = linear("leave", width, latent, /*bias=*/false);
  source_positions_ =
      nn::Positions(parameters_, "source_positions", options.network.positions, width);
  target_positions_ =
      nn::Positions(parameters_, "target_positions", options.network.positions, width);
  source_norm_ = nn::LayerNorm(parameters_, "source_norm", width);
  target_norm_ = nn::LayerNorm(parameters_, "target_norm", width);
  time_in_ = linear("time.in", width, 4 * width);
  time_out_ = linear("time.out", 4 * width, width);
  condition_in_ = linear("condition.in", 2 * width, width);
  condition_out_ = linear("condition.out", width, width);
  length_ = nn::Linear(parameters_, "length", width, LengthClasses::kCount);
  parameters_.allocate(device, precision, seed);
  // Without a gradient: autograd would tie the codes to the stream that is current now.
  const c10::NoGradGuard no_grad;
  codebook_.emplace(*embedding_, EmbeddingTableOptions{options.normalise, undecodable_});
}

void Seq2Seq::refresh() {
  parameters_.publish();
  const c10::NoGradGuard no_grad;
  codebook_->refresh();
}

Draws Seq2Seq::draw(const StreamId& noise, const StreamId& time, int64_t rows,
                    int64_t length) const {
  const at::Tensor samples =
      at::arange(rows, at::TensorOptions().device(device()).dtype(at::kLong));
  return {process_.draw_time(time, samples),
          process_.draw_noise(noise, samples, {length, codebook_->dim()})};
}

Encoded Seq2Seq::encode(const at::Tensor& source, nn::Mode mode) const {
  const double share = options_.network.transformer.dropout;
  const at::Tensor present = source.ne(kPad), visible = visible_keys(source);
  const at::ScalarType dtype = enter_.weight->scalar_type();

  at::Tensor x = enter_(codebook_->encode(source)) + source_positions_(source.size(1));
  x = nn::dropout(source_norm_(x), share, mode);
  Encoded encoded;
  encoded.memory_bias = nn::key_bias(visible, dtype);
  x = encoder_(x, encoded.memory_bias, {}, {}, mode);
  encoded.memories = decoder_.memories(x);
  encoded.source_lengths = present.sum(1);

  const at::Tensor mean = (x * visible.unsqueeze(-1)).sum(1) / visible.sum(1, true);
  encoded.length_scores = length_(mean).to(at::kFloat);
  return encoded;
}

at::Tensor Seq2Seq::decode(const at::Tensor& x, const at::Tensor& time, const at::Tensor& previous,
                           const at::Tensor& bias, const Encoded& encoded, nn::Mode mode) const {
  const double share = options_.network.transformer.dropout;
  const int64_t width = options_.network.transformer.width;
  const at::Tensor told =
      network_time(time, process_.trajectory().horizon());  // [B]: t, never the elements' tau
  const at::Tensor clock = time_out_(at::silu(time_in_(nn::time_embedding(told, width))));

  at::Tensor h = condition_in_(at::cat({enter_(x), enter_(previous)}, -1));
  h = nn::dropout(condition_out_(h.relu()), share, mode);
  h = h + clock.unsqueeze(1) + target_positions_(x.size(1));
  h = nn::dropout(target_norm_(h), share, mode);
  h = decoder_(h, bias, encoded.memories, encoded.memory_bias, mode);
  return leave_(h).to(at::kFloat);
}

Denoiser Seq2Seq::denoiser(const Encoded& encoded, const at::Tensor& visible) const {
  const at::Tensor bias = nn::key_bias(visible, enter_.weight->scalar_type());
  return
      [this, &encoded, bias](const at::Tensor& x, const at::Tensor& t, const at::Tensor& previous) {
        return decode(x, t, previous, bias, encoded, nn::Mode::inference);
      };
}

Seq2SeqLoss Seq2Seq::loss(const Seq2SeqBatch& batch, const Draws& draws, bool self_condition,
                          nn::Mode mode) {
  codebook_->refresh();  // with a gradient: codes are trained
  const Encoded encoded = encode(batch.source, mode);
  const at::Tensor present = batch.target.ne(kPad);
  const at::Tensor bias = nn::key_bias(visible_keys(batch.target), enter_.weight->scalar_type());

  const at::Tensor x0 = codebook_->encode(batch.target);
  const Noised noised = process_.noise(*codebook_, x0, batch.target, draws.eps, draws.t);
  at::Tensor previous = at::zeros_like(noised.x);
  if (self_condition) {
    const c10::NoGradGuard no_grad;
    previous = decode(noised.x, draws.t, previous, bias, encoded, mode);
  }
  const at::Tensor x0_hat = decode(noised.x, draws.t, previous, bias, encoded, mode);
  const Loss parts = objective(process_, *codebook_, noised, x0_hat, x0, batch.target, present,
                               options_.objective);

  const at::Tensor lengths = present.sum(1);
  const at::Tensor used = lengths.gt(0);
  const at::Tensor classes = (lengths - encoded.source_lengths + LengthClasses::kOffset)
                                 .clamp(0, LengthClasses::kCount - 1);
  const at::Tensor length =
      masked_mean(at::cross_entropy_loss(encoded.length_scores, classes, {}, at::Reduction::None,
                                         /*ignore_index=*/-100, options_.objective.label_smoothing),
                  used);

  Seq2SeqLoss loss;
  loss.total = parts.total + options_.length_weight * length;
  loss.mse = parts.mse.detach();
  loss.cross_entropy = parts.cross_entropy.detach();
  loss.length = length.detach();
  const c10::NoGradGuard no_grad;
  loss.tau = masked_mean(noised.tau / process_.trajectory().horizon(), present);
  loss.outside = noised.outside.defined() ? masked_mean(noised.outside.to(at::kFloat), present)
                                          : at::zeros_like(loss.tau);
  return loss;
}

}  // namespace tessera::model
