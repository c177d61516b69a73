#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

// Poisson numbers by the inverse of the distribution function: a function of u alone.
//   mean  [...] >= 0; few should be above 30, since the work grows with the largest
//   u     [...] float64 in [0, 1)
//   returns [...] int64
at::Tensor draw_poisson(const at::Tensor& mean, const at::Tensor& u);

}  // namespace tessera
