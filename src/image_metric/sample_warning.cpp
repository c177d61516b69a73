#include "image_metric/sample_warning.h"

#include <fmt/format.h>

namespace tessera::image_metric {

std::optional<std::string> sample_warning(const std::string& name, int64_t count, int64_t dim) {
  if (count > dim) return std::nullopt;
  return fmt::format(
      "{} has {} samples for {} features: its covariance is singular, and the distance is larger "
      "than that of more samples would be",
      name, count, dim);
}

std::optional<std::string> subset_warning(const KernelDistance& found,
                                          const KernelDistanceOptions& options) {
  if (found.subset_size >= options.subset_size) return std::nullopt;
  return fmt::format(
      "the kernel distance is that of subsets of {} images, not {}: the smaller set has no more, "
      "and the deviation is too small",
      found.subset_size, options.subset_size);
}

}  // namespace tessera::image_metric
