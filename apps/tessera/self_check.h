#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::app {

// Small problems whose answers are known. Each throws Error if the device computes something else,
// or cannot compute it.

// The exit kernel against the definition, in plain loops.
void check_boundary(at::Device device);

// A product of matrices of kFloat or kBFloat16 against float64.
void check_matmul(at::Device device, at::ScalarType dtype);

}  // namespace tessera::app
