#pragma once

#include <tessera/symbols/noise_kernel.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

// Kernels by name.
using Kernels = std::vector<std::pair<std::string, std::shared_ptr<NoiseKernel>>>;

inline at::Tensor time(double t) {
  return at::scalar_tensor(t, at::kDouble);
}

inline at::Tensor row(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble);
}

inline at::Tensor symbol(int64_t value) {
  return at::full({1}, value, at::kLong);
}

// q(x_t = j | x_s = i) as a matrix [states, states].
inline at::Tensor matrix(const NoiseKernel& kernel, double s, double t) {
  const at::Tensor all = at::arange(kernel.states(), at::kLong);
  return kernel.log_from(all, time(s), time(t)).exp().t();
}

inline void expect_same(const at::Tensor& value, const at::Tensor& expected,
                        double tolerance = 1e-10) {
  EXPECT_TRUE(at::allclose(value.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance))
      << value << "\nexpected " << expected;
}

}  // namespace tessera::test
