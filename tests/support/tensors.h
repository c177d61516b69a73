#pragma once

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

// Small helpers shared by the tests.
namespace tessera::test {

// [sizes...] ~ N(0, 1), the same for the same seed.
inline at::Tensor normal(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype = at::kFloat) {
  const at::Tensor row = at::zeros({1}, at::kLong);
  return random_normal({seed, Purpose::test, 0}, row, sizes).squeeze(0).to(dtype);
}

// [sizes...] uniform in {0 .. bound-1}.
inline at::Tensor labels(at::IntArrayRef sizes, int64_t bound, uint64_t seed) {
  const int64_t count = c10::multiply_integers(sizes);
  return random_integers({seed, Purpose::test, 1}, at::arange(count, at::kLong), 0, bound - 1)
      .reshape(sizes);
}

// Rows of equal length sqrt(d).
inline at::Tensor unit_codes(int64_t k, int64_t d, uint64_t seed,
                             at::ScalarType dtype = at::kFloat) {
  const at::Tensor rows = normal({k, d}, seed, at::kDouble);
  return (rows * (std::sqrt(static_cast<double>(d)) / at::norm(rows, 2, {-1}, true))).to(dtype);
}

inline double largest_difference(const at::Tensor& x, const at::Tensor& y) {
  if (x.numel() == 0) return 0;
  return (x.to(at::kDouble) - y.to(at::kDouble)).abs().max().item<double>();
}

inline std::vector<double> values(const at::Tensor& x) {
  const at::Tensor flat = x.detach().cpu().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

// Gradient of `loss` (a function of x, float64) against central differences; the largest absolute
// difference.
template <class Loss>
double gradient_error(const Loss& loss, const at::Tensor& x, double step = 1e-6) {
  at::Tensor variable = x.detach().clone().requires_grad_();
  loss(variable).backward();
  const at::Tensor gradient = variable.grad().reshape({-1});
  double worst = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const auto at_offset = [&](double offset) {
      at::Tensor moved = x.detach().clone();
      moved.view({-1}).select(0, i).add_(offset);
      return loss(moved).template item<double>();
    };
    const double slope = (at_offset(step) - at_offset(-step)) / (2 * step);
    worst = std::max(worst, std::abs(slope - gradient[i].item<double>()));
  }
  return worst;
}

}  // namespace tessera::test
