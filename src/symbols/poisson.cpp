#include "symbols/poisson.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera {

at::Tensor draw_poisson(const at::Tensor& mean, const at::Tensor& u) {
  if (u.numel() == 0) return at::zeros(u.sizes(), u.options().dtype(at::kLong));
  constexpr double kMostMean = 600;  // exp(-mean) is a number
  const at::Tensor rate = mean.to(at::kDouble).clamp_max(kMostMean);
  at::Tensor probability = rate.neg().exp(), below = probability;
  at::Tensor count = at::zeros(u.sizes(), u.options().dtype(at::kLong));
  // Larger numbers are so unlikely that a uniform number of 53 bits cannot ask for them.
  const double largest = rate.max().item<double>();
  const auto most = static_cast<int64_t>(largest + 10 * std::sqrt(largest) + 30);
  for (int64_t k = 1; k <= most; ++k) {
    const at::Tensor more = u.ge(below);
    count += more;
    probability = probability * rate / static_cast<double>(k);
    below = below + probability;
  }
  return count;
}

}  // namespace tessera
