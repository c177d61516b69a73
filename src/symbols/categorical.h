#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

// One draw per row, by the inverse of the distribution function: one u per row, whatever K is.
//   logits  [..., K], need not be normalised; -inf: never
//   u       [...] float64 in [0, 1)
//   returns [...] int64, of positive probability
at::Tensor draw_categorical(const at::Tensor& logits, const at::Tensor& u);

// A time per sample, shaped to broadcast over elements.   [B] or [] -> [B, 1, ...] with `axes` axes
at::Tensor against_elements(const at::Tensor& time, int64_t axes);

}  // namespace tessera
