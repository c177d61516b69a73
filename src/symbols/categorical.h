#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

// One draw a row by the inverse of the distribution function: a function of u alone, whatever K.
//   logits  [..., K], need not be normalised; -inf: never
//   u       [...] float64 in [0, 1)
//   returns [...] int64, of positive probability
at::Tensor draw_categorical(const at::Tensor& logits, const at::Tensor& u);

// A time per sample, made to stand against elements.   [B] or [] -> [B, 1, ...] of so many axes
at::Tensor against_elements(const at::Tensor& time, int64_t axes);

}  // namespace tessera
