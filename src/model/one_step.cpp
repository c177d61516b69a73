#include "model/one_step.h"

#include "model/validation_batch.h"
#include "text/dictionary.h"

#include <tessera/process/objective.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::model {

OneStep measure_one_step(const Diffusion& model, const text::Split& split, int64_t batch_tokens,
                         uint64_t seed) {
  const c10::NoGradGuard no_grad;
  text::BatcherOptions options;
  options.tokens = batch_tokens;
  options.max_length = model.options().network.positions;
  options.shuffle = false;
  const text::Batcher batcher(split, options, seed);
  const EmbeddingTable& codebook = model.codebook();
  at::Tensor sums = at::zeros({4}, at::TensorOptions().dtype(at::kDouble).device(model.device()));
  for (int64_t i = 0; i < batcher.batches(0); ++i) {
    const auto [ids, draws] = ValidationBatch(model, batcher.batch(0, i), i, seed);
    const at::Tensor& target = ids.target;
    const at::Tensor x0 = codebook.encode(target);
    const Noised noised = model.process().noise(codebook, x0, target, draws.eps, draws.t);
    const Encoded encoded = model.encode(ids.source);
    const at::Tensor x0_hat =
        model.denoiser(encoded, visible_keys(target))(noised.x, draws.t, at::zeros_like(noised.x));
    const at::Tensor error = (x0_hat - x0).square().mean(-1);
    const at::Tensor weight =
        velocity_weight(model.process(), noised, model.options().objective.velocity_cap);
    const at::Tensor right = codebook.decode(x0_hat).eq(target).to(error.scalar_type());
    const at::Tensor counted = target.ne(text::Dictionary::kPad);
    const at::Tensor values = at::stack({error, error * weight, right, at::ones_like(error)});
    sums += values.masked_fill(counted.logical_not(), 0).to(at::kDouble).sum({1, 2});
  }
  const at::Tensor host = sums.cpu();
  const double* sum = host.const_data_ptr<double>();
  const double tokens = std::max(sum[3], 1.0);
  return {static_cast<int64_t>(sum[3]), sum[0] / tokens, sum[1] / tokens, sum[2] / tokens};
}

}  // namespace tessera::model
