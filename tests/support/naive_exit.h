#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <vector>

// The stopping time as method.md defines it, one competitor at a time in float64: slow, but easy to
// check by eye.
namespace tessera::test {

struct NaiveExit {
  std::vector<double> ratio;
  std::vector<bool> outside;
};

inline NaiveExit naive_exit(const at::Tensor& codes, const at::Tensor& x0, const at::Tensor& eps,
                            const at::Tensor& labels) {
  const at::Tensor table = codes.to(at::kDouble), start = x0.to(at::kDouble),
                   noise = eps.to(at::kDouble);
  const at::Tensor f_x = at::mm(start, table.t()).contiguous();
  const at::Tensor f_e = at::mm(noise, table.t()).contiguous();
  const double longest = at::norm(table, 2, {-1}).max().item<double>();
  const at::Tensor x_norm = at::norm(start, 2, {-1}), e_norm = at::norm(noise, 2, {-1});
  const int64_t n = x0.size(0), k = codes.size(0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();

  NaiveExit result;
  for (int64_t i = 0; i < n; ++i) {
    const double* fx = f_x.const_data_ptr<double>() + i * k;
    const double* fe = f_e.const_data_ptr<double>() + i * k;
    const int64_t own = labels[i].item<int64_t>();
    const double tiny_a = 1e-6 * x_norm[i].item<double>() * longest;
    const double tiny_b = 1e-6 * e_norm[i].item<double>() * longest;
    double ratio = -kInfinity;
    bool outside = false;
    for (int64_t j = 0; j < k; ++j) {
      if (j == own) continue;
      const double a = fx[own] - fx[j], b = fe[j] - fe[own];
      if (a < -tiny_a) {
        outside = true;
      } else if (a <= tiny_a) {
        if (b > tiny_b) ratio = kInfinity;
      } else {
        ratio = std::max(ratio, b / a);
      }
    }
    result.ratio.push_back(outside ? kInfinity : ratio);
    result.outside.push_back(outside);
  }
  return result;
}

}  // namespace tessera::test
