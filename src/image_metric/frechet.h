#pragma once

#include "image_metric/gaussian.h"

namespace tessera::image_metric {

// |μ₁ - μ₂|² + tr(Σ₁ + Σ₂ - 2 (Σ₁^½ Σ₂ Σ₁^½)^½), the squared Fréchet distance of two normal
// distributions. Finite and never negative, even if covariances are singular. Throws Error if the
// dimensions differ, a value is not finite or a matrix is not a covariance.
double frechet_distance(const Gaussian& a, const Gaussian& b);

}  // namespace tessera::image_metric
