#include "nn/residual_norm.h"

#include "base/require.h"
#include "kernels/residual_norm.h"
#include "nn/row_kernels.h"
#include "tensor/device.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

namespace tessera::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// The elements that dropout keeps; null if it keeps all.
const uint8_t* kept_bytes(const at::Tensor& kept) {
  return static_cast<const uint8_t*>(data_or_null(kept));
}

struct ResidualNorm : torch::autograd::Function<ResidualNorm> {
  //   kept   as x, bool: elements of the part that dropout keeps; none: all
  static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& part,
                          const at::Tensor& scale, const at::Tensor& shift,
                          const std::optional<at::Tensor>& bias,
                          const std::optional<at::Tensor>& kept, double keep, bool with_gradient) {
    const int64_t rows = x.numel() / x.size(-1);
    const at::TensorOptions floats = x.options().dtype(at::kFloat);
    at::Tensor y = at::empty_like(x), sum, mean, inverse;
    kernels::ResidualNorm problem{.rows = rows,
                                  .channels = static_cast<int>(x.size(-1)),
                                  .keep = static_cast<float>(keep),
                                  .eps = static_cast<float>(LayerNorm::kEps),
                                  .x = x.const_data_ptr(),
                                  .part = part.const_data_ptr(),
                                  .bias = data_or_null(bias.value_or(at::Tensor())),
                                  .kept = kept_bytes(kept.value_or(at::Tensor())),
                                  .scale = scale.const_data_ptr(),
                                  .shift = shift.const_data_ptr(),
                                  .y = y.mutable_data_ptr(),
                                  .sum = nullptr,
                                  .mean = nullptr,
                                  .inverse = nullptr};
    if (with_gradient) {
      sum = at::empty_like(x);
      mean = at::empty({rows}, floats);
      inverse = at::empty({rows}, floats);
      problem.sum = sum.mutable_data_ptr();
      problem.mean = mean.mutable_data_ptr<float>();
      problem.inverse = inverse.mutable_data_ptr<float>();
      context->save_for_backward({scale, sum, mean, inverse, kept.value_or(at::Tensor())});
      context->saved_data["keep"] = keep;
      context->saved_data["bias"] = bias.has_value();
    }
    on_cuda(x.device(), [&](void* stream) { kernels::cuda::residual_norm(problem, stream); });
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &scale = saved[0], &sum = saved[1], &mean = saved[2], &inverse = saved[3],
                     &kept = saved[4];
    const at::Tensor dy = gradients[0].contiguous();
    const int64_t channels = dy.size(-1), rows = dy.numel() / channels;
    at::Tensor dx = at::empty_like(dy), d_part = kept.defined() ? at::empty_like(dy) : dx;
    at::Tensor sums;
    on_cuda(dy.device(), [&](void* stream) {
      const int64_t blocks = kernels::cuda::residual_norm_blocks(rows);
      sums = at::empty({blocks, 3, channels}, mean.options());
      const kernels::ResidualNormBackward problem{
          .rows = rows,
          .channels = static_cast<int>(channels),
          .keep = static_cast<float>(context->saved_data["keep"].toDouble()),
          .kept = kept_bytes(kept),
          .scale = scale.const_data_ptr(),
          .sum = sum.const_data_ptr(),
          .mean = mean.const_data_ptr<float>(),
          .inverse = inverse.const_data_ptr<float>(),
          .dy = dy.const_data_ptr(),
          .dx = dx.mutable_data_ptr(),
          .d_part = kept.defined() ? d_part.mutable_data_ptr() : nullptr,
          .blocks = blocks,
          .sums = sums.mutable_data_ptr<float>()};
      kernels::cuda::residual_norm_backward(problem, stream);
    });
    const at::Tensor totals = sums.sum(0).to(scale.scalar_type());
    const bool with_bias = context->saved_data["bias"].toBool();
    return {dx, d_part, totals[0], totals[1], with_bias ? totals[2] : at::Tensor(), {}, {}, {}};
  }
};

}  // namespace

at::Tensor residual_norm(const at::Tensor& x, const PendingBias& part, const LayerNorm& norm,
                         double share, Mode mode) {
  require(x.sizes() == part.y.sizes(), "sequences of shapes {} and {} cannot be added",
          shape_text(x.sizes()), shape_text(part.y.sizes()));
  if (!has_row_kernels(part.y) || x.size(-1) > kernels::kMaxNormChannels)
    return norm(x + dropout(part.sum(), share, mode));
  const auto typed = [&](const at::Tensor& y) { return y.to(part.y.scalar_type()).contiguous(); };
  std::optional<at::Tensor> bias, kept;
  if (part.bias.defined()) bias = typed(part.bias);
  if (mode == Mode::training && share > 0)
    kept = at::empty(x.sizes(), x.options().dtype(at::kBool)).bernoulli_(1 - share);
  return ResidualNorm::apply(typed(x), typed(part.y), typed(*norm.scale), typed(*norm.shift), bias,
                             kept, kept ? 1 / (1 - share) : 1.0, c10::GradMode::is_enabled());
}

}  // namespace tessera::nn
