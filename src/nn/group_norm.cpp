#include "nn/group_norm.h"

#include "base/require.h"
#include "kernels/device.h"
#include "kernels/group_norm.h"
#include "nn/row_kernels.h"
#include "tensor/device.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <optional>

namespace tessera::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr double kEps = 1e-5;

// The inputs of a normalisation.
struct Problem {
  at::Tensor x;             // [B, P, C]
  at::Tensor weight, bias;  // [C]
  at::Tensor film;          // [B, 2 * C] or undefined
  at::Tensor offset;        // [C] or undefined; only for the kernels
  int64_t groups;
  bool silu;
};

// Mean and 1 / deviation of every group, [B, groups, 1] float32, and the result.
struct Normalised {
  at::Tensor y, mean, inverse;
};

// The gradient with respect to x, and sums over the positions, [B, C] float32: of dL/dh * n, of
// dL/dh and, if there is an offset, of dL/dx (kernels/group_norm.h). The other gradients follow
// from them.
struct Gradients {
  at::Tensor dx, d_gain, d_lift, d_offset;
};

// A picture's channels as groups.   [B or 1, C] -> [B or 1, groups, C / groups]
at::Tensor grouped(const at::Tensor& x, int64_t groups) {
  return x.reshape({-1, groups, x.size(-1) / groups});
}

// gain = weight (1 + scale) and lift = bias (1 + scale) + shift, [B or 1, groups, C / groups].
std::pair<at::Tensor, at::Tensor> gain_and_lift(const Problem& problem) {
  const at::Tensor weight = grouped(problem.weight.to(at::kFloat), problem.groups);
  const at::Tensor bias = grouped(problem.bias.to(at::kFloat), problem.groups);
  if (!problem.film.defined()) return {weight, bias};
  const auto parts = problem.film.to(at::kFloat).chunk(2, 1);
  const at::Tensor scale = grouped(1 + parts[0], problem.groups);
  return {weight * scale, bias * scale + grouped(parts[1], problem.groups)};
}

// Factors of channels, shaped and typed to multiply a picture.   [B, groups, n] -> [B, 1, C]
at::Tensor over_positions(const at::Tensor& x, const at::Tensor& like) {
  return x.expand({like.size(0), x.size(1), like.size(2) / x.size(1)})
      .reshape({like.size(0), 1, like.size(2)})
      .to(like.scalar_type());
}

// ---- with LibTorch operations. LibTorch's own normalisation needs the channels first in memory
// and makes one pass for every part of this. Here h = x * factor + summand.

at::Tensor before_activation(const Problem& problem, const at::Tensor& mean,
                             const at::Tensor& inverse) {
  const auto [gain, lift] = gain_and_lift(problem);
  const at::Tensor factor = gain * inverse;
  return at::addcmul(over_positions(lift - mean * factor, problem.x), problem.x,
                     over_positions(factor, problem.x));
}

Normalised composed(const Problem& problem) {
  const at::Tensor& x = problem.x;
  const auto n = static_cast<double>(x.size(1) * x.size(2) / problem.groups);
  Normalised result;
  result.mean = grouped(at::mean(x, {1}, false, at::kFloat), problem.groups).mean(2, true);
  const at::Tensor norms = at::linalg_vector_norm(x, 2, {1}, false, at::kFloat);
  const at::Tensor variance =
      (grouped(norms.square(), problem.groups).sum(2, true) / n - result.mean.square())
          .clamp_min(0);
  result.inverse = (variance + kEps).rsqrt();
  const at::Tensor h = before_activation(problem, result.mean, result.inverse);
  result.y = problem.silu ? at::silu(h) : h;
  return result;
}

Gradients composed_gradients(const Problem& problem, const at::Tensor& mean,
                             const at::Tensor& inverse, const at::Tensor& dy) {
  const at::Tensor& x = problem.x;
  const auto n = static_cast<double>(x.size(1) * x.size(2) / problem.groups);
  const at::Tensor dh =
      problem.silu ? at::silu_backward(dy, before_activation(problem, mean, inverse)) : dy;
  const at::Tensor sum = grouped(at::sum(dh, {1}, false, at::kFloat), problem.groups);
  const at::Tensor product = grouped(at::sum(dh * x, {1}, false, at::kFloat), problem.groups);
  const at::Tensor d_gain = (product - mean * sum) * inverse;
  // With g = dh gain: dx = inverse (g - mean(g) - n mean(n g)), sorted by powers of x.
  const at::Tensor gain = gain_and_lift(problem).first;
  const at::Tensor along = (gain * d_gain).sum(2, true) / n * inverse * inverse;
  const at::Tensor constant = mean * along - (gain * sum).sum(2, true) / n * inverse;
  const at::Tensor dx =
      at::addcmul(at::addcmul(over_positions(constant, x), x, over_positions(-along, x)), dh,
                  over_positions(gain * inverse, x));
  return {dx, d_gain.flatten(1), sum.flatten(1), {}};
}

// ---- with one kernel each

bool has_kernel(const at::Tensor& rows) {
  return has_row_kernels(rows) && kernels::cuda::has_hopper_code_for(rows.get_device());
}

kernels::GroupNorm pointers(const Problem& problem) {
  return {.samples = problem.x.size(0),
          .positions = static_cast<int>(problem.x.size(1)),
          .channels = static_cast<int>(problem.x.size(2)),
          .groups = static_cast<int>(problem.groups),
          .eps = static_cast<float>(kEps),
          .silu = problem.silu,
          .x = problem.x.const_data_ptr(),
          .weight = problem.weight.const_data_ptr(),
          .bias = problem.bias.const_data_ptr(),
          .film = data_or_null(problem.film),
          .offset = data_or_null(problem.offset)};
}

Normalised fused(const Problem& problem) {
  const auto floats = problem.x.options().dtype(at::kFloat);
  const std::array<int64_t, 3> shape{problem.x.size(0), problem.groups, 1};
  Normalised result{at::empty_like(problem.x), at::empty(shape, floats), at::empty(shape, floats)};
  const kernels::GroupNormForward forward{.what = pointers(problem),
                                          .y = result.y.mutable_data_ptr(),
                                          .mean = result.mean.mutable_data_ptr<float>(),
                                          .inverse = result.inverse.mutable_data_ptr<float>()};
  on_cuda(problem.x.device(), [&](void* stream) { kernels::cuda::group_norm(forward, stream); });
  return result;
}

Gradients fused_gradients(const Problem& problem, const at::Tensor& mean, const at::Tensor& inverse,
                          const at::Tensor& dy) {
  const std::array<int64_t, 2> shape{problem.x.size(0), problem.x.size(2)};
  const auto floats = problem.x.options().dtype(at::kFloat);
  const auto sums = [&] { return at::empty(shape, floats); };
  Gradients result{at::empty_like(problem.x), sums(), sums(),
                   problem.offset.defined() ? sums() : at::Tensor()};
  float* const d_offset =
      result.d_offset.defined() ? result.d_offset.mutable_data_ptr<float>() : nullptr;
  const kernels::GroupNormBackward backward{.what = pointers(problem),
                                            .mean = mean.const_data_ptr<float>(),
                                            .inverse = inverse.const_data_ptr<float>(),
                                            .dy = dy.const_data_ptr(),
                                            .dx = result.dx.mutable_data_ptr(),
                                            .d_gain = result.d_gain.mutable_data_ptr<float>(),
                                            .d_lift = result.d_lift.mutable_data_ptr<float>(),
                                            .d_offset = d_offset};
  on_cuda(problem.x.device(),
          [&](void* stream) { kernels::cuda::group_norm_backward(backward, stream); });
  return result;
}

struct Normalise : torch::autograd::Function<Normalise> {
  static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                          const at::Tensor& bias, const std::optional<at::Tensor>& film,
                          const std::optional<at::Tensor>& offset, int64_t groups, bool silu) {
    const Problem problem{
        x, weight, bias, film.value_or(at::Tensor()), offset.value_or(at::Tensor()), groups, silu};
    const Normalised result = has_kernel(x) ? fused(problem) : composed(problem);
    context->save_for_backward(
        {x, weight, bias, problem.film, problem.offset, result.mean, result.inverse});
    context->saved_data["groups"] = groups;
    context->saved_data["silu"] = silu;
    return result.y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Problem problem{saved[0],
                          saved[1],
                          saved[2],
                          saved[3],
                          saved[4],
                          context->saved_data["groups"].toInt(),
                          context->saved_data["silu"].toBool()};
    const at::Tensor dy = gradients[0].contiguous();
    const auto [dx, d_gain, d_lift, d_offsets] =
        has_kernel(problem.x) ? fused_gradients(problem, saved[5], saved[6], dy)
                              : composed_gradients(problem, saved[5], saved[6], dy);
    at::Tensor d_weight = d_gain, d_bias = d_lift, d_film, d_offset;
    if (problem.offset.defined()) d_offset = d_offsets.sum(0).to(problem.offset.scalar_type());
    if (problem.film.defined()) {
      const at::Tensor scale = 1 + problem.film.to(at::kFloat).chunk(2, 1)[0];
      d_film = at::cat({d_gain * problem.weight + d_lift * problem.bias, d_lift}, 1)
                   .to(problem.film.scalar_type());
      d_weight = d_gain * scale;
      d_bias = d_lift * scale;
    }
    return {dx,
            d_weight.sum(0).to(problem.weight.scalar_type()),
            d_bias.sum(0).to(problem.bias.scalar_type()),
            d_film,
            d_offset,
            {},
            {}};
  }
};

}  // namespace

int64_t GroupNorm::groups(int64_t channels) {
  return std::clamp<int64_t>(channels / 4, 1, 32);
}

GroupNorm::GroupNorm(Parameters& parameters, const std::string& name, int64_t channels)
    : scale_(parameters.add(name + ".scale", {channels}, Initial::ones(), Use::network)),
      shift_(parameters.add(name + ".shift", {channels}, Initial::zeros(), Use::network)) {
  require_option(channels % groups(channels) == 0,
                 "a network's {} channels cannot be normalised in {} groups of one size", channels,
                 groups(channels));
}

at::Tensor GroupNorm::operator()(const at::Tensor& x, After after, const at::Tensor& film,
                                 const at::Tensor& offset) const {
  at::Tensor typed = x.to(scale_->scalar_type()).contiguous();
  if (offset.defined() && !has_kernel(typed)) typed = typed + offset;
  const auto maybe = [&](const at::Tensor& tensor) {
    return tensor.defined() ? std::optional(tensor.to(typed.scalar_type()).contiguous())
                            : std::nullopt;
  };
  require(!film.defined() || film.sizes() == at::IntArrayRef({x.size(0), 2 * x.size(-1)}),
          "the film of {} pictures with {} channels cannot have the shape {}", x.size(0),
          x.size(-1), shape_text(film.sizes()));
  return Normalise::apply(typed.flatten(1, 2), *scale_, *shift_, maybe(film),
                          has_kernel(typed) ? maybe(offset) : std::nullopt, groups(x.size(-1)),
                          after == After::silu)
      .view(x.sizes());
}

}  // namespace tessera::nn
