#pragma once

#include "image_metric/kernel_distance.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::image_metric {

// The warning about a set that has too few samples for the Fréchet distance: `count` vectors span
// at most count - 1 of the `dim` directions, so the covariance is singular and the distance too
// large.
//   name  of the set
std::optional<std::string> sample_warning(const std::string& name, int64_t count, int64_t dim);

// The warning about a kernel distance whose sets have fewer vectors than its subsets should have.
std::optional<std::string> subset_warning(const KernelDistance& found,
                                          const KernelDistanceOptions& options = {});

}  // namespace tessera::image_metric
