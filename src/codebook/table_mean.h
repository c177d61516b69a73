#pragma once

#include <ATen/core/Tensor.h>

namespace tessera {

// The mean of a table's codes under the softmax over scores: sum_j softmax(s * x . E_j + c_j)_j
// E_j. Streamed over the table: nothing of size N x n is stored.
//   codes [n, d], bias [n] or undefined, x [N, d], s = logit_scale  ->  [N, d] in the dtype of x
at::Tensor table_mean(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x,
                      double logit_scale);

}  // namespace tessera
