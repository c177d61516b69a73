#include <tessera/process/family.h>

#include "base/require.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera {

at::Tensor Family::bound(const Corrupted& /*corrupted*/, const at::Tensor& /*output*/,
                         const at::Tensor& /*labels*/) const {
  throw Error("this kind of diffusion has no bound of the likelihood");
}

FamilyLoss training_loss(const Family& family, const Denoiser& network, const at::Tensor& labels,
                         const at::Tensor& mask, const Draws& draws, int64_t self_conditioned,
                         ConditionLoss of) {
  require(0 <= self_conditioned && self_conditioned <= labels.size(0),
          "{} samples of {} cannot be self-conditioned", self_conditioned, labels.size(0));
  const Corrupted corrupted = family.corrupt(labels, draws);
  at::Tensor previous = at::zeros_like(corrupted.input);
  if (of == ConditionLoss::both && self_conditioned > 0) {
    require(self_conditioned == labels.size(0),
            "a loss of both passes needs self-conditioning for all {} samples, got {}",
            labels.size(0), self_conditioned);
    const at::Tensor first = network(corrupted.input, corrupted.time, previous);
    const FamilyLoss plain = family.loss(corrupted, first, labels, mask);
    const at::Tensor output =
        network(corrupted.input, corrupted.time, family.shown(first).detach());
    FamilyLoss loss = family.loss(corrupted, output, labels, mask);
    loss.total = loss.total + plain.total;
    return loss;
  }
  if (self_conditioned > 0) {
    const c10::NoGradGuard no_grad;
    const auto first = [&](const at::Tensor& all) { return all.narrow(0, 0, self_conditioned); };
    first(previous).copy_(
        family.shown(network(first(corrupted.input), first(corrupted.time), first(previous))));
  }
  const at::Tensor output = network(corrupted.input, corrupted.time, previous);
  return family.loss(corrupted, output, labels, mask);
}

}  // namespace tessera
