#include "nn/join.h"

#include "base/require.h"
#include "base/rounding.h"
#include "kernels/join.h"
#include "nn/row_kernels.h"
#include "tensor/device.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

const double kScale = std::sqrt(0.5);

// One pass over memory forward, and one backward.
struct Join : torch::autograd::Function<Join> {
  static Variable forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& b,
                          const std::optional<at::Tensor>& bias) {
    context->saved_data["bias"] = bias.has_value();
    at::Tensor y = at::empty_like(a);
    const kernels::Join problem{.rows = a.numel() / a.size(-1),
                                .channels = static_cast<int>(a.size(-1)),
                                .scale = static_cast<float>(kScale),
                                .a = a.const_data_ptr(),
                                .b = b.const_data_ptr(),
                                .bias = data_or_null(bias.value_or(at::Tensor())),
                                .y = y.mutable_data_ptr()};
    on_cuda(a.device(), [&](void* stream) { kernels::cuda::join(problem, stream); });
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor dy = gradients[0].contiguous();
    const int64_t channels = dy.size(-1), rows = dy.numel() / channels;
    const int64_t rows_of_part = std::max<int64_t>(1, 32768 / channels);  // 64 KiB
    const int64_t parts = ceil_div(rows, rows_of_part);
    at::Tensor d = at::empty_like(dy);
    const at::Tensor sums = at::empty({parts, channels}, dy.options().dtype(at::kFloat));
    const kernels::JoinBackward problem{.rows = rows,
                                        .channels = static_cast<int>(channels),
                                        .scale = static_cast<float>(kScale),
                                        .dy = dy.const_data_ptr(),
                                        .d = d.mutable_data_ptr(),
                                        .rows_of_part = rows_of_part,
                                        .sums = sums.mutable_data_ptr<float>()};
    on_cuda(dy.device(), [&](void* stream) { kernels::cuda::join_backward(problem, stream); });
    at::Tensor d_bias;
    if (context->saved_data["bias"].toBool()) d_bias = sums.sum(0).to(dy.scalar_type());
    return {d, d, d_bias};
  }
};

}  // namespace

at::Tensor joined(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias) {
  require(a.sizes() == b.sizes(), "pictures of shapes {} and {} cannot be joined",
          shape_text(a.sizes()), shape_text(b.sizes()));
  if (!has_row_kernels(a)) return (bias.defined() ? a + b + bias : a + b) * kScale;
  const auto typed = [&](const at::Tensor& x) { return x.to(a.scalar_type()).contiguous(); };
  return Join::apply(typed(a), typed(b),
                     bias.defined() ? std::optional(typed(bias)) : std::nullopt);
}

}  // namespace tessera::nn
