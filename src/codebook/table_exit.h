#pragma once

#include <ATen/core/Tensor.h>

// Exits from the cells of a table of codes, without ever storing elements x codes: float32 goes to
// the kernels, everything else through tiles of LibTorch operations in float64. At most
// kernels::kScratchLimit bytes beside inputs and outputs.
//   codes [K, d], bias [K], x0 and eps [N, d], rows [N] int64: the code of every element, -1 for
//   none
// Rows are given, or undefined: then they are the lowest argmax of the scores of x0, and returned.
namespace tessera {

struct TableExit {
  at::Tensor rows;     // [N] int64
  at::Tensor value;    // [N] exit ratio rho*, or exit angle; special cases: kernels/exit_ratio.h
  at::Tensor outside;  // [N] bool
};

// Linear scores x . E_j: the ratio u/v at the first exit.
TableExit table_exit_ratio(const at::Tensor& codes, const at::Tensor& x0, const at::Tensor& eps,
                           const at::Tensor& rows);

// Affine scores x . E_j + c_j on a path u = cos(theta), v = sin(theta): the angle of the first
// exit, +inf for none.
TableExit table_exit_angle(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x0,
                           const at::Tensor& eps, const at::Tensor& rows);

// Points [..., d] with one more coordinate: codes get their bias, points get 1 (or 0).
at::Tensor with_coordinate(const at::Tensor& x, const at::Tensor& value);
at::Tensor with_coordinate(const at::Tensor& x, double value);

// Lowest argmax of x . E_j (+ c_j).   x [N, d] -> [N] int64;  bias may be undefined
at::Tensor table_argmax(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x);

}  // namespace tessera
