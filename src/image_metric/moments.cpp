#include "image_metric/moments.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera::image_metric {

void Moments::add(const at::Tensor& features) {
  require_floating(features, "features");
  require(features.dim() == 2 && features.size(1) > 0, "features must be [n, D], got {}",
          shape_text(features.sizes()));
  if (features.size(0) == 0) return;
  check_finite(features, "features");
  const c10::NoGradGuard no_grad;
  const at::Tensor x = features.to(mean_.defined() ? mean_.device() : features.device(),
                                   at::kDouble, /*non_blocking=*/true);
  const at::Tensor mean = x.mean(0);
  const at::Tensor centred = x - mean;
  combine(x.size(0), mean, at::mm(centred.t(), centred));
}

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  const c10::NoGradGuard no_grad;
  const at::Device device = (mean_.defined() ? mean_ : other.mean_).device();
  combine(other.count_, other.mean_.to(device).clone(), other.scatter_.to(device).clone());
}

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances" (1979).
void Moments::combine(int64_t count, const at::Tensor& mean, const at::Tensor& scatter) {
  if (count_ == 0) {
    count_ = count;
    mean_ = mean;
    scatter_ = scatter;
    return;
  }
  require(mean.size(0) == dim(), "feature vectors of {} numbers, but those before them have {}",
          mean.size(0), dim());
  const auto before = static_cast<double>(count_), added = static_cast<double>(count);
  const double all = before + added;
  const at::Tensor step = mean - mean_;
  scatter_.add_(scatter).addr_(step, step, /*beta=*/1, /*alpha=*/before * added / all);
  mean_.add_(step, added / all);
  count_ += count;
}

void Moments::share(const std::function<void(const at::Tensor&)>& sum) {
  require(count_ >= 1, "there are no features here to add to those elsewhere");
  const c10::NoGradGuard no_grad;
  const auto own = static_cast<double>(count_);
  const at::Tensor count = at::full({1}, count_, mean_.options().dtype(at::kLong));
  sum(count);
  const at::Tensor mean = mean_ * own;
  sum(mean);
  count_ = count.item<int64_t>();
  mean.div_(static_cast<double>(count_));
  const at::Tensor step = mean_ - mean;
  scatter_.addr_(step, step, /*beta=*/1, /*alpha=*/own);
  sum(scatter_);
  mean_ = mean;
}

at::Tensor Moments::mean() const {
  require(count_ >= 1, "there is no mean: no features were given");
  return mean_.to(at::kCPU, at::kDouble, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor Moments::covariance() const {
  require(count_ >= 2, "a covariance needs at least two feature vectors, got {}", count_);
  const at::Tensor scatter = scatter_.cpu();
  return (scatter + scatter.t()) / (2.0 * static_cast<double>(count_ - 1));
}

}  // namespace tessera::image_metric
