#include "nn/transformer.h"

#include "nn/int8.h"
#include "nn/residual_norm.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace tessera::nn {
namespace {

// Training has few shapes, generation has many.
Kernels kernels_for(Mode mode) {
  return mode == Mode::training ? Kernels::planned : Kernels::ready;
}

}  // namespace

Transformer::Transformer(Parameters& parameters, const std::string& name, Kind kind,
                         const TransformerOptions& options)
    : options_(options) {
  const int64_t width = options.width;
  for (int64_t i = 0; i < options.layers; ++i) {
    const std::string prefix = fmt::format("{}.{}.", name, i);
    Layer layer;
    layer.self = SelfAttention(parameters, prefix + "self", width, options.heads);
    layer.self_norm = LayerNorm(parameters, prefix + "self_norm", width);
    if (kind == Kind::decoder) {
      layer.cross = CrossAttention(parameters, prefix + "cross", width, options.heads);
      layer.cross_norm = LayerNorm(parameters, prefix + "cross_norm", width);
    }
    layer.up = Linear(parameters, prefix + "up", width, options.feedforward);
    layer.down = Linear(parameters, prefix + "down", options.feedforward, width);
    layer.feedforward_norm = LayerNorm(parameters, prefix + "feedforward_norm", width);
    layers_.push_back(std::move(layer));
  }
  if (options.norm == NormPlace::pre) last_norm_ = LayerNorm(parameters, name + ".norm", width);
}

std::vector<Memory> Transformer::memories(const at::Tensor& encoded) const {
  std::vector<Memory> result;
  for (const Layer& layer : layers_) result.push_back(layer.cross.memory(encoded));
  return result;
}

template <class Attention>
at::Tensor Transformer::run(at::Tensor x, const Attention& attend_to_itself,
                            const std::vector<Memory>& memories, const at::Tensor& memory_bias,
                            Mode mode) const {
  const bool pre = options_.norm == NormPlace::pre;
  const auto residual = [&](const LayerNorm& norm, const auto& part) {
    if (pre)
      x = x + dropout(part(norm(x)).sum(), options_.dropout, mode);
    else
      x = residual_norm(x, part(x), norm, options_.dropout, mode);
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    residual(layer.self_norm, [&](const at::Tensor& y) { return attend_to_itself(i, y); });
    if (!memories.empty())
      residual(layer.cross_norm, [&](const at::Tensor& y) {
        return layer.cross(y, memories[i], memory_bias, kernels_for(mode));
      });
    residual(layer.feedforward_norm, [&](const at::Tensor& y) {
      const at::Tensor hidden = layer.up(y);
      return layer.down.without_bias(options_.activation == Activation::relu ? hidden.relu()
                                                                             : at::gelu(hidden));
    });
  }
  return pre ? last_norm_(x) : x;
}

at::Tensor Transformer::operator()(at::Tensor x, const at::Tensor& bias,
                                   const std::vector<Memory>& memories,
                                   const at::Tensor& memory_bias, Mode mode) const {
  const bool reads_all = bias.size(2) == 1;  // every position sees the same ones
  if (int8_ && mode == Mode::inference && reads_all)
    return (*int8_)(x, bias, memories, memory_bias);
  const auto attention = [&](size_t i, const at::Tensor& y) {
    return layers_[i].self(y, bias, kernels_for(mode));
  };
  return run(std::move(x), attention, memories, memory_bias, mode);
}

at::Tensor Transformer::step(at::Tensor x, KeyCache& cache, const std::vector<Memory>& memories,
                             const at::Tensor& memory_bias) const {
  const auto attention = [&](size_t i, const at::Tensor& y) {
    return layers_[i].self.step(y, cache, static_cast<int64_t>(i));
  };
  at::Tensor result = run(std::move(x), attention, memories, memory_bias, Mode::inference);
  cache.advance();
  return result;
}

void Transformer::use_int8() {
  const auto norm_of = [](const LayerNorm& norm) {
    return kernels::cpu::Int8Norm{norm.scale->const_data_ptr<float>(),
                                  norm.shift->const_data_ptr<float>()};
  };
  kernels::cpu::Int8Stack stack{.width = options_.width,
                                .feedforward = options_.feedforward,
                                .heads = options_.heads,
                                .norm_first = options_.norm == NormPlace::pre,
                                .gelu = options_.activation == Activation::gelu,
                                .eps = static_cast<float>(LayerNorm::kEps),
                                .layers = {},
                                .last_norm = {}};
  for (const Layer& layer : layers_) {
    kernels::cpu::Int8Layer& form = stack.layers.emplace_back();
    form.in = int8_form(layer.self.in());
    form.out = int8_form(layer.self.out());
    form.self_norm = norm_of(layer.self_norm);
    if (layer.cross_norm.scale.defined()) {
      form.queries = int8_form(layer.cross.queries());
      form.cross_out = int8_form(layer.cross.out());
      form.cross_norm = norm_of(layer.cross_norm);
    }
    form.up = int8_form(layer.up);
    form.down = int8_form(layer.down);
    form.feedforward_norm = norm_of(layer.feedforward_norm);
  }
  if (stack.norm_first) stack.last_norm = norm_of(last_norm_);
  int8_ = std::make_shared<const Int8Transformer>(std::move(stack));
}

KeyCache Transformer::cache(int64_t rows, int64_t room) const {
  return KeyCache({.rows = rows,
                   .layers = static_cast<int64_t>(layers_.size()),
                   .heads = options_.heads,
                   .width = options_.width,
                   .room = room},
                  layers_.front().up.weight->options().requires_grad(false));
}

}  // namespace tessera::nn
