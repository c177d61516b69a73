#include "image_model/hollow_network.h"

#include "base/require.h"
#include "nn/attention.h"
#include "nn/time_embedding.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace tessera::image_model {
namespace {

constexpr int64_t kReadoutLayers = 1;

nn::TransformerOptions stack_of(const HollowOptions& options, int64_t layers) {
  require_option(options.width % options.head_width == 0,
                 "model.width must be a multiple of model.head_width, got {} and {}", options.width,
                 options.head_width);
  return {.width = options.width,
          .feedforward = 4 * options.width,
          .heads = options.width / options.head_width,
          .layers = layers,
          .dropout = options.dropout,
          .norm = nn::NormPlace::pre,
          .activation = nn::Activation::gelu};
}

// The bias of attention from L places to S places: 0 for those that are seen, else -inf.
//   seen [L, S] bool -> [1, 1, L, S]
at::Tensor bias_of(const at::Tensor& seen, at::ScalarType dtype) {
  return nn::key_bias(seen, dtype).permute({1, 2, 0, 3});
}

}  // namespace

HollowNetwork::HollowNetwork(nn::Parameters& parameters, const std::string& name,
                             const HollowOptions& options, const ImageShape& shape, int64_t inputs,
                             int64_t outputs, int64_t classes)
    : shape_(shape), width_(options.width) {
  const int64_t width = width_;
  const auto linear = [&](const char* part, int64_t from, int64_t to) {
    return nn::Linear(parameters, name + part, from, to, /*with_bias=*/true,
                      nn::Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(from))));
  };
  const auto table = [&](const char* part, int64_t count) {
    return parameters.add(name + part, {count, width}, nn::Initial::normal(), nn::Use::network);
  };
  enter_ = linear(".enter", inputs, width);
  time_in_ = linear(".time_in", width, width);
  time_out_ = linear(".time_out", width, width);
  if (classes > 0) classes_ = table(".classes", classes + 1);
  begin_ = table(".begin", 1);
  rows_ = table(".rows", shape.height);
  columns_ = table(".columns", shape.width);
  colours_ = table(".colours", shape.channels);
  using Kind = nn::Transformer::Kind;
  const nn::TransformerOptions stack = stack_of(options, options.layers);
  forward_.emplace(parameters, name + ".forward", Kind::encoder, stack);
  backward_.emplace(parameters, name + ".backward", Kind::encoder, stack);
  readout_.emplace(parameters, name + ".readout", Kind::decoder, stack_of(options, kReadoutLayers));
  leave_ = linear(".leave", width, outputs);
}

at::Tensor HollowNetwork::positions() const {
  const at::Tensor all = rows_->unsqueeze(1).unsqueeze(2) + columns_->unsqueeze(1) + *colours_;
  return all.flatten(0, 2);
}

at::Tensor HollowNetwork::shifted(const at::Tensor& symbols) const {
  const at::Tensor begin = begin_->unsqueeze(0).expand({symbols.size(0), 1, width_});
  return at::cat({begin.to(symbols.scalar_type()), symbols.narrow(1, 0, symbols.size(1) - 1)}, 1);
}

at::Tensor HollowNetwork::operator()(const at::Tensor& x, const at::Tensor& time,
                                     const at::Tensor& classes, nn::Mode mode) const {
  const int64_t rows = x.size(0), places = shape_.height * shape_.width * shape_.channels;
  at::Tensor told = time_out_(at::silu(time_in_(nn::time_embedding(time, width_))));
  if (classes_.defined()) told = told + at::embedding(*classes_, classes);
  const at::Tensor where = positions() + told.unsqueeze(1);  // [B, places, width]
  const at::Tensor symbols = enter_(x.reshape({rows, places, -1}));

  // The second stack reads the reversed sequence.
  const at::ScalarType dtype = symbols.scalar_type();
  const at::Tensor causal = nn::causal_bias(places, symbols.options().requires_grad(false));
  const at::Tensor before =
      (*forward_)((shifted(symbols) + where).to(at::kFloat), causal, {}, {}, mode);
  const at::Tensor after =
      (*backward_)((shifted(symbols.flip(1)) + where.flip(1)).to(at::kFloat), causal, {}, {}, mode)
          .flip(1);

  // A place attends to what the stacks have read before and after it. Its own state is made from
  // these two and its position, never from its own symbol.
  const at::Tensor upto = at::ones({places, places}, symbols.options().dtype(at::kBool)).tril();
  const at::Tensor memory_bias = bias_of(at::cat({upto, upto.t()}, 1), dtype);
  const at::Tensor own_bias = bias_of(at::eye(places, symbols.options().dtype(at::kBool)), dtype);
  const at::Tensor found =
      (*readout_)((before + after + where).to(at::kFloat), own_bias,
                  readout_->memories(at::cat({before, after}, 1)), memory_bias, mode);
  return leave_(found).to(at::kFloat).reshape({rows, shape_.height, shape_.width, -1});
}

}  // namespace tessera::image_model
