#pragma once

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::test {

// A network of two positions and three symbols whose numbers are known: logit of symbol k at
// position i (from 0) is 1.5 sin(0.7 (k+1) + 1.3 (i+1) + 0.9 x_1 + 0.4 x_2 + 0.31 t).
//   x  [B, 2] states, t [B]  ->  [B, 2, 3] float64
inline at::Tensor toy_logits(const at::Tensor& x, const at::Tensor& t) {
  const at::Tensor states = x.to(at::kDouble);
  const at::Tensor common = 0.9 * states.select(1, 0) + 0.4 * states.select(1, 1) + 0.31 * t;
  const at::Tensor k = at::arange(1, 4, at::kDouble), i = at::arange(1, 3, at::kDouble);
  return 1.5 * at::sin(0.7 * k.view({1, 1, 3}) + 1.3 * i.view({1, 2, 1}) + common.view({-1, 1, 1}));
}

}  // namespace tessera::test
