#include "model/diffusion.h"

#include "nn/time_embedding.h"
#include "process/masked_mean.h"
#include "text/dictionary.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <array>

namespace tessera::model {
namespace {

constexpr int64_t kPad = text::Dictionary::kPad;
constexpr std::array<std::string_view, 6> kMeasures{
    "mse",     "cross_entropy", "length",
    "tau",      // mean tau / T
    "outside",  // share of the tokens outside their own cell
    "reach",    // mean length of the estimate over that of the codes
};

}  // namespace

Diffusion::Diffusion(const Seq2SeqOptions& options, int64_t symbols,
                     std::vector<int64_t> undecodable, at::Device device, nn::Precision precision,
                     const nn::Start& start)
    : Seq2Seq(options, symbols, std::move(undecodable)), process_(options.process) {
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
}

std::span<const std::string_view> Diffusion::measures() const {
  return kMeasures;
}

nn::Draws Diffusion::draw(const StreamId& noise, const StreamId& time, int64_t rows,
                          int64_t length) const {
  const at::Tensor samples =
      at::arange(rows, at::TensorOptions().device(device()).dtype(at::kLong));
  return {process_.draw_time(time, samples),
          process_.draw_noise(noise, samples, {length, codebook().dim()})};
}

at::Tensor Diffusion::length_scores(const Encoded& encoded, nn::Mode mode) const {
  const at::Tensor& visible = encoded.visible;
  at::Tensor mean =
      (encoded.states * visible.unsqueeze(-1)).sum(1) / visible.sum(1, /*keepdim=*/true);
  // By heart the lengths of a small corpus are soon known, to the encoder's harm.
  if (!options().length_gradient)
    mean = nn::dropout(mean.detach(), options().network.transformer.dropout, mode);
  return length_(mean).to(at::kFloat);
}

at::Tensor Diffusion::decode(const at::Tensor& x, const at::Tensor& time,
                             const at::Tensor& previous, const at::Tensor& bias,
                             const Encoded& encoded, nn::Mode mode) const {
  const nn::TransformerOptions& transformer = options().network.transformer;
  const at::Tensor told =
      network_time(time, process_.trajectory().horizon());  // [B]: t, never the elements' tau
  const at::Tensor clock =
      time_out_(at::silu(time_in_(nn::time_embedding(told, transformer.width))));

  at::Tensor h = condition_in_(at::cat({network_.enter(x), network_.enter(previous)}, -1));
  h = nn::dropout(condition_out_(h.relu()), transformer.dropout, mode);
  return network_.decode(network_.place(h + clock.unsqueeze(1), 0, mode), bias, encoded, mode);
}

SamplerOptions Diffusion::sampler_options(SamplerOptions sampler) const {
  sampler.shown = options().condition_on;
  sampler.logit_scale = options().objective.logit_scale;
  return sampler;
}

Denoiser Diffusion::denoiser(const Encoded& encoded, const at::Tensor& visible) const {
  const at::Tensor bias = nn::key_bias(visible, network_.dtype());
  return
      [this, &encoded, bias](const at::Tensor& x, const at::Tensor& t, const at::Tensor& previous) {
        return decode(x, t, previous, bias, encoded, nn::Mode::inference);
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

nn::TrainingLoss Diffusion::loss(const Seq2SeqBatch& batch, const nn::Draws& draws,
                                 bool self_condition, nn::Mode mode) {
  trained_codebook().refresh();  // with a gradient: codes are trained
  const Encoded encoded = encode(batch.source, mode);
  const at::Tensor present = batch.target.ne(kPad);
  const at::Tensor bias = nn::key_bias(visible_keys(batch.target), network_.dtype());

  const at::Tensor x0 = codebook().encode(batch.target);
  const Noised noised = process_.noise(codebook(), x0, batch.target, draws.eps, draws.t);
  at::Tensor previous = at::zeros_like(noised.x);
  if (self_condition) {
    const c10::NoGradGuard no_grad;
    previous = estimate_of(codebook(), decode(noised.x, draws.t, previous, bias, encoded, mode),
                           options().condition_on, options().objective.logit_scale);
  }
  const at::Tensor x0_hat = decode(noised.x, draws.t, previous, bias, encoded, mode);
  const Loss parts = objective(process_, codebook(), noised, x0_hat, x0, batch.target, present,
                               options().objective);
  const at::Tensor length = length_loss(encoded, batch.source, batch.target, mode);

  nn::TrainingLoss loss;
  loss.total = parts.total + options().length_weight * length;
  const c10::NoGradGuard no_grad;
  const at::Tensor tau = masked_mean(noised.tau / process_.trajectory().horizon(), present);
  const at::Tensor outside = noised.outside.defined()
                                 ? masked_mean(noised.outside.to(at::kFloat), present)
                                 : at::zeros_like(tau);
  const auto mean_length = [&](const at::Tensor& points) {
    return masked_mean(at::norm(points.detach(), 2, {-1}), present);
  };
  const at::Tensor reach = mean_length(x0_hat) / mean_length(x0).clamp_min(1e-12);
  loss.measures = at::stack({parts.mse, parts.cross_entropy, length, tau, outside, reach});
  loss.elements = present.sum().to(at::kFloat);
  return loss;
}

}  // namespace tessera::model
