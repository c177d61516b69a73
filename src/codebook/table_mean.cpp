#include "codebook/table_mean.h"

#include "tensor/slices.h"

#include <ATen/ATen.h>

#include <optional>

namespace tessera {
namespace {

// [N, d] -> [1, 1, N, d]: one head of one sentence
at::Tensor as_head(const at::Tensor& rows) {
  return rows.unsqueeze(0).unsqueeze(0);
}

// This mean is an attention of points to codes, and attention kernels stream over the keys.
at::Tensor by_attention(const at::Tensor& codes, const at::Tensor& x, double logit_scale) {
  const at::Tensor queries = as_head(x.contiguous()), keys = as_head(codes);
  const at::Tensor seen =
      x.is_cuda()
          ? std::get<0>(at::_scaled_dot_product_efficient_attention(
                queries, keys, keys, /*attn_bias=*/std::nullopt, /*compute_log_sumexp=*/false,
                /*dropout_p=*/0.0, /*is_causal=*/false, logit_scale))
          : std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
                queries, keys, keys, /*dropout_p=*/0.0, /*is_causal=*/false,
                /*attn_mask=*/std::nullopt, logit_scale));
  return seen.squeeze(0).squeeze(0);
}

// With stored scores.
at::Tensor by_scores(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x,
                     double logit_scale) {
  return in_slices(x.size(0), codes.size(0), x.device(), [&](int64_t begin, int64_t count) {
    at::Tensor scores = at::matmul(x.narrow(0, begin, count), codes.t()).mul_(logit_scale);
    if (bias.defined()) scores.add_(bias.to(x.scalar_type()));
    return at::matmul(scores.softmax(-1), codes);
  });
}

// LibTorch's CUDA kernel needs rows of whole 16 bytes.
bool fits_attention(const at::Tensor& x) {
  return !x.is_cuda() || (x.scalar_type() == at::kFloat && x.size(1) % 4 == 0);
}

}  // namespace

at::Tensor table_mean(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x,
                      double logit_scale) {
  if (x.size(0) == 0) return x;
  const at::Tensor table = codes.to(x.scalar_type()).contiguous();
  return bias.defined() || !fits_attention(x) ? by_scores(table, bias, x, logit_scale)
                                              : by_attention(table, x, logit_scale);
}

}  // namespace tessera
