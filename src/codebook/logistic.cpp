#include "codebook/logistic.h"

#include <ATen/ATen.h>

namespace tessera {
namespace {

constexpr double kMostLogScale = 30;  // keeps exp() well within float32

// log(1 - exp(-x)), x > 0
at::Tensor log_of_rest(const at::Tensor& x) {
  return at::expm1(x.neg()).neg().log();
}

// The centre of the first bin. The others follow at distances of one width.
double first_centre(const LogisticBins& bins) {
  return -bins.width * static_cast<double>(bins.count - 1) / 2;
}

// With a and b the borders of a bin in units of the scale, sigmoid(b) - sigmoid(a) is
// sigmoid(b) sigmoid(-a) (1 - exp(a - b)).   centre [...] -> [...]
at::Tensor log_probability(const at::Tensor& mean, const at::Tensor& log_scale,
                           const at::Tensor& centre, const LogisticBins& bins) {
  const at::Tensor sharpness = (2 - log_scale.clamp(-kMostLogScale, kMostLogScale)).exp();
  const auto mass = [&](const at::Tensor& middle, double to_border) {
    return at::log_sigmoid((middle + to_border) * sharpness) +
           at::log_sigmoid((to_border - middle) * sharpness) +
           log_of_rest(sharpness * (2 * to_border));
  };
  const double half = bins.width / 2;
  return mass(centre - mean, half) - mass(mean.neg(), half * static_cast<double>(bins.count));
}

}  // namespace

at::Tensor logistic_log_probabilities(const at::Tensor& logistic, const LogisticBins& bins) {
  const double first = first_centre(bins);
  const at::Tensor centres = at::linspace(first, -first, bins.count, logistic.options());
  return log_probability(logistic.select(-1, 0).unsqueeze(-1), logistic.select(-1, 1).unsqueeze(-1),
                         centres, bins);
}

at::Tensor logistic_log_probability(const at::Tensor& logistic, const at::Tensor& bin,
                                    const LogisticBins& bins) {
  const at::Tensor centre = bin.to(logistic.scalar_type()) * bins.width + first_centre(bins);
  return log_probability(logistic.select(-1, 0), logistic.select(-1, 1), centre, bins);
}

at::Tensor logistic_mode(const at::Tensor& logistic, const LogisticBins& bins) {
  const at::Tensor place = (logistic.select(-1, 0) - first_centre(bins)) / bins.width;
  return place.round().clamp(0, static_cast<double>(bins.count - 1)).to(at::kLong);
}

}  // namespace tessera
