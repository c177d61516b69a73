#include "nn/attention.h"

#include "base/require.h"
#include "base/rounding.h"

#include <ATen/ATen.h>

#include <limits>
#include <optional>

namespace tessera::nn {
namespace {

void check_heads(int64_t width, int64_t heads) {
  require_option(heads >= 1 && width % heads == 0,
                 "the width of a network must be a multiple of its heads, got {} and {}", width,
                 heads);
}

// [B, L, width] -> [B, heads, L, width / heads]
at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}

// Kernels::ready reads biases in pieces of 8 numbers, so their rows begin at multiples of 8.
constexpr int64_t kPiece = 8;

// [B, heads, L, width / heads] -> [B, L, width]; without a bias every key is seen
at::Tensor attend(const at::Tensor& queries, const Memory& memory, const at::Tensor& bias,
                  Kernels kernels) {
  std::optional<at::Tensor> everywhere;
  if (bias.defined())
    everywhere =
        bias.expand({queries.size(0), queries.size(1), queries.size(2), memory.keys.size(2)});
  const bool ready = kernels == Kernels::ready && queries.is_cuda() &&
                     queries.scalar_type() == at::kBFloat16 && queries.size(-1) % kPiece == 0;
  const at::Tensor seen =
      ready ? std::get<0>(at::_scaled_dot_product_efficient_attention(
                  queries, memory.keys, memory.values, everywhere, /*compute_log_sumexp=*/false))
            : at::scaled_dot_product_attention(queries, memory.keys, memory.values, everywhere);
  return seen.transpose(1, 2).flatten(2);
}

}  // namespace

at::Tensor key_bias(const at::Tensor& visible, at::ScalarType dtype) {
  const int64_t keys = visible.size(1);
  return at::zeros({visible.size(0), round_up(keys, kPiece)}, visible.options().dtype(dtype))
      .narrow(1, 0, keys)
      .masked_fill_(visible.logical_not(), -std::numeric_limits<double>::infinity())
      .unsqueeze(1)
      .unsqueeze(1);
}

at::Tensor causal_bias(int64_t length, const at::TensorOptions& options) {
  return at::full({1, 1, length, round_up(length, kPiece)},
                  -std::numeric_limits<double>::infinity(), options)
      .triu_(1)
      .narrow(3, 0, length);
}

SelfAttention::SelfAttention(Parameters& parameters, const std::string& name, int64_t width,
                             int64_t heads, const Initial& initial)
    : heads_(heads) {
  check_heads(width, heads);
  in_ = Linear(parameters, name + ".in", width, 3 * width, /*with_bias=*/true, initial);
  out_ = Linear(parameters, name + ".out", width, width, /*with_bias=*/true, initial);
}

Memory SelfAttention::project(const at::Tensor& x, at::Tensor& queries) const {
  const auto parts = in_(x).chunk(3, -1);
  queries = split_heads(parts[0], heads_);
  return {split_heads(parts[1], heads_), split_heads(parts[2], heads_)};
}

PendingBias SelfAttention::operator()(const at::Tensor& x, const at::Tensor& bias,
                                      Kernels kernels) const {
  at::Tensor queries;
  const Memory memory = project(x, queries);
  return out_.without_bias(attend(queries, memory, bias, kernels));
}

PendingBias SelfAttention::step(const at::Tensor& x, KeyCache& cache, int64_t layer) const {
  at::Tensor queries;
  const Memory next = project(x, queries);
  return out_.without_bias(attend(queries, cache.append(layer, next), /*bias=*/{}, Kernels::ready));
}

CrossAttention::CrossAttention(Parameters& parameters, const std::string& name, int64_t width,
                               int64_t heads)
    : heads_(heads) {
  check_heads(width, heads);
  queries_ = Linear(parameters, name + ".queries", width, width);
  memory_ = Linear(parameters, name + ".memory", width, 2 * width);
  out_ = Linear(parameters, name + ".out", width, width);
}

Memory CrossAttention::memory(const at::Tensor& m) const {
  const auto parts = memory_(m).chunk(2, -1);
  return {split_heads(parts[0], heads_), split_heads(parts[1], heads_)};
}

PendingBias CrossAttention::operator()(const at::Tensor& x, const Memory& memory,
                                       const at::Tensor& bias, Kernels kernels) const {
  const at::Tensor queries = queries_(x).view({memory.keys.size(0), -1, x.size(-1)});
  return out_.without_bias(
      attend(split_heads(queries, heads_), memory, bias, kernels).view(x.sizes()));
}

}  // namespace tessera::nn
