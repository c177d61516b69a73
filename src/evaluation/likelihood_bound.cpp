#include "evaluation/likelihood_bound.h"

#include "base/require.h"
#include "evaluation/validation_batch.h"
#include "text/dictionary.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::evaluation {

LikelihoodBound measure_bound(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                              int64_t draws, int64_t batch_tokens, uint64_t seed,
                              const std::stop_token& stop) {
  const c10::NoGradGuard no_grad;
  const Family* const family = model.family();
  require(family != nullptr && family->has_bound(),
          "this model has no bound of the likelihood of texts");
  const corpus::Batcher batcher = validation_batches(model, split, batch_tokens, seed);
  at::Tensor sums = at::zeros({2}, at::TensorOptions().dtype(at::kDouble).device(model.device()));
  for (int64_t i = 0; i < batcher.batches(0); ++i) {
    const seq2seq::Seq2SeqBatch batch = validation_batch(model, batcher.batch(0, i));
    const at::Tensor& target = batch.target;
    const at::Tensor counted = target.ne(text::Dictionary::kPad);
    const seq2seq::Encoded encoded = model.encode(batch.source);
    const Denoiser network = model.denoiser(encoded, seq2seq::visible_keys(target));
    for (int64_t draw = 0; draw < draws; ++draw) {
      require(!stop.stop_requested(), "the evaluation was stopped");
      const TrainingStreams streams = validation_streams(seed, i * draws + draw);
      const Corrupted corrupted =
          family->corrupt(target, model.draw(streams, target.size(0), target.size(1)));
      const at::Tensor output =
          network(corrupted.input, corrupted.time, at::zeros_like(corrupted.input));
      const at::Tensor bound = family->bound(corrupted, output, target).to(at::kDouble);
      sums += at::stack(
          {bound.masked_fill(counted.logical_not(), 0).sum(), counted.sum().to(at::kDouble)});
    }
  }
  const at::Tensor host = sums.cpu();
  const double* const sum = host.const_data_ptr<double>();
  return {static_cast<int64_t>(sum[1]) / draws, draws, sum[0] / std::max(sum[1], 1.0)};
}

}  // namespace tessera::evaluation
