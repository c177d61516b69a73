#include "image_metric/frechet.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::image_metric {
namespace {

// How far below zero rounding may put an eigenvalue, relative to the largest one.
constexpr double kRounding = 1e-6;

struct Factors {
  at::Tensor vectors;  // [D, D], columns
  at::Tensor roots;    // [D], of the eigenvalues
};

void require_gaussian(const Gaussian& gaussian, const char* which) {
  require_defined(gaussian.mean, "the mean");
  require_defined(gaussian.covariance, "the covariance");
  require(gaussian.mean.dim() == 1 && gaussian.dim() > 0, "the mean of {} must be [D], got {}",
          which, shape_text(gaussian.mean.sizes()));
  require_shape(gaussian.covariance, {gaussian.dim(), gaussian.dim()}, "the covariance");
  require(at::isfinite(gaussian.mean).all().item<bool>() &&
              at::isfinite(gaussian.covariance).all().item<bool>(),
          "mean or covariance of {} contain NaN or infinite values", which);
}

Factors factors_of(const at::Tensor& covariance, const char* which) {
  const auto [values, vectors] = at::linalg_eigh((covariance + covariance.t()) / 2);
  const double smallest = values[0].item<double>(), largest = values[-1].item<double>();
  require(smallest >= -kRounding * std::max(largest, 0.0),
          "the covariance of {} has the eigenvalue {:.3g} (largest {:.3g}): it is no covariance",
          which, smallest, largest);
  return {vectors, values.clamp_min(0).sqrt()};
}

}  // namespace

double frechet_distance(const Gaussian& a, const Gaussian& b) {
  const c10::NoGradGuard no_grad;
  require_gaussian(a, "the first set");
  require_gaussian(b, "the second set");
  require(a.dim() == b.dim(), "the first set has {} features and the second {}", a.dim(), b.dim());
  const auto on_cpu = [](const at::Tensor& x) { return x.to(at::kCPU, at::kDouble); };
  const at::Tensor first = on_cpu(a.covariance), second = on_cpu(b.covariance);
  const Factors one = factors_of(first, "the first set"),
                two = factors_of(second, "the second set");

  // tr (Σ₁^½ Σ₂ Σ₁^½)^½ is the sum of the singular values of Σ₁^½ Σ₂^½. Eigenvalues of the product
  // would need another square root, which turns a rounding error of 1e-16 into 1e-8.
  const at::Tensor product =
      one.roots.unsqueeze(1) * at::mm(one.vectors.t(), two.vectors) * two.roots.unsqueeze(0);
  const double common = at::linalg_svdvals(product).sum().item<double>();
  const double shift = (on_cpu(a.mean) - on_cpu(b.mean)).square().sum().item<double>();
  const double spread = first.trace().item<double>() + second.trace().item<double>();
  return shift + std::max(0.0, spread - 2 * common);
}

}  // namespace tessera::image_metric
