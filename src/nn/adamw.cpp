#include "nn/adamw.h"

#include "base/require.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace tessera::nn {

AdamW::AdamW(std::vector<at::Tensor> parameters, const AdamWOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  require_option(options.beta1 >= 0 && options.beta1 < 1 && options.beta2 >= 0 && options.beta2 < 1,
                 "AdamW's decay rates must be in [0, 1), got {} and {}", options.beta1,
                 options.beta2);
  require_option(options.eps > 0, "AdamW's eps must be positive, got {}", options.eps);
  require_option(options.weight_decay >= 0, "AdamW's weight_decay must not be negative, got {}",
                 options.weight_decay);
  for (const at::Tensor& parameter : parameters_) {
    require(parameter.defined() && parameter.is_leaf() && parameter.requires_grad(),
            "AdamW takes leaves that require a gradient");
    means_.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    squares_.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    steps_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false)));
  }
}

AdamW::Active AdamW::active() const {
  Active result;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    result.parameters.push_back(parameters_[i]);
    result.gradients.push_back(parameters_[i].grad());
    result.means.push_back(means_[i]);
    result.squares.push_back(squares_[i]);
    result.steps.push_back(steps_[i]);
  }
  return result;
}

template <class Rate>
void AdamW::update(const Rate& learning_rate, const std::optional<at::Tensor>& divisor,
                   const std::optional<at::Tensor>& skip) {
  const c10::NoGradGuard no_grad;
  Active now = active();
  if (now.parameters.empty()) return;
  if (skip)
    at::_foreach_add_(now.steps, 1 - *skip);
  else
    at::_foreach_add_(now.steps, 1);
  at::_fused_adamw_(now.parameters, now.gradients, now.means, now.squares, /*max_exp_avg_sqs=*/{},
                    now.steps, learning_rate, options_.beta1, options_.beta2, options_.weight_decay,
                    options_.eps, /*amsgrad=*/false, /*maximize=*/false, divisor, skip);
}

void AdamW::step(double learning_rate) {
  update(learning_rate, std::nullopt, std::nullopt);
}

void AdamW::step(const at::Tensor& learning_rate, const at::Tensor& divisor,
                 const at::Tensor& skip) {
  update(learning_rate, divisor, skip);
}

std::map<std::string, std::vector<at::Tensor>> AdamW::state() const {
  return {{"means", means_}, {"squares", squares_}, {"steps", steps_}};
}

void AdamW::zero_grad() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

}  // namespace tessera::nn
