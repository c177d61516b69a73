#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

// One draw per row, by the inverse of the distribution function: one u per row, whatever K is.
//   logits  [..., K], need not be normalised; -inf: never
//   u       [...] float64 in [0, 1)
//   returns [...] int64, of positive probability
at::Tensor draw_categorical(const at::Tensor& logits, const at::Tensor& u);

// The value at one place of every row.   values [..., K], index [...] int64 -> [...]
at::Tensor entry(const at::Tensor& values, const at::Tensor& index);

// -log p of x0; 0 where x0 < 0.   log_p0 [..., K], x0 [...] -> [...]
at::Tensor surprise_of(const at::Tensor& log_p0, const at::Tensor& x0);

// A time per sample, shaped to broadcast over elements.   [B] or [] -> [B, 1, ...] with `axes` axes
at::Tensor against_elements(const at::Tensor& time, int64_t axes);

}  // namespace tessera
