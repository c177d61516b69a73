#include "evaluation/one_step.h"

#include "base/require.h"
#include "evaluation/validation_batch.h"
#include "text/dictionary.h"

#include <tessera/process/objective.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::evaluation {

OneStep measure_one_step(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                         int64_t batch_tokens, uint64_t seed, Estimate estimate,
                         const std::stop_token& stop) {
  const c10::NoGradGuard no_grad;
  const Process* const process = model.family() ? model.family()->process() : nullptr;
  require(process != nullptr,
          "single steps are measured on paths from codes to noise, and this model has none");
  const corpus::Batcher batcher = validation_batches(model, split, batch_tokens, seed);
  const EmbeddingTable& codebook = model.codebook();
  at::Tensor sums = at::zeros({8}, at::TensorOptions().dtype(at::kDouble).device(model.device()));
  for (int64_t i = 0; i < batcher.batches(0); ++i) {
    require(!stop.stop_requested(), "the evaluation was stopped");
    const seq2seq::Seq2SeqBatch batch = validation_batch(model, batcher.batch(0, i));
    const TrainingStreams streams = validation_streams(seed, i);
    const at::Tensor& target = batch.target;
    const at::Tensor samples = at::arange(target.size(0), target.options());
    const at::Tensor t =
        process->training_time(codebook, process->draw_time(streams.time, samples));
    const at::Tensor eps =
        process->draw_noise(streams.noise, samples, {target.size(1), codebook.dim()});
    const at::Tensor x0 = codebook.encode(target);
    const Noised noised = process->noise(codebook, x0, target, eps, t);
    const seq2seq::Encoded encoded = model.encode(batch.source);
    const at::Tensor x0_hat = model.denoiser(encoded, seq2seq::visible_keys(target))(
        noised.x, t, at::zeros_like(noised.x));
    const at::Tensor used =
        estimate_of(codebook, x0_hat, estimate, model.options().objective.logit_scale);
    const auto error_of = [&](const at::Tensor& point) { return (point - x0).square().mean(-1); };
    const auto length_of = [](const at::Tensor& point) { return at::norm(point, 2, {-1}); };
    const at::Tensor error = error_of(used);
    const at::Tensor weight =
        velocity_weight(*process, noised, model.options().objective.velocity_cap);
    const at::Tensor right = codebook.decode(used).eq(target).to(error.scalar_type());
    const at::Tensor counted = target.ne(text::Dictionary::kPad);
    const at::Tensor values =
        at::stack({error, error * weight, right, at::ones_like(error), length_of(used),
                   length_of(x0), error_of(x0_hat), length_of(x0_hat)});
    sums += values.masked_fill(counted.logical_not(), 0).to(at::kDouble).sum({1, 2});
  }
  const at::Tensor host = sums.cpu();
  const double* sum = host.const_data_ptr<double>();
  const double tokens = std::max(sum[3], 1.0);
  const double code_length = std::max(sum[5], 1e-12);
  return {static_cast<int64_t>(sum[3]), sum[0] / tokens, sum[1] / tokens,     sum[2] / tokens,
          sum[4] / code_length,         sum[6] / tokens, sum[7] / code_length};
}

}  // namespace tessera::evaluation
