#include "distance/sample_warning.h"

#include <fmt/format.h>

namespace tessera::distance {

std::optional<std::string> sample_warning(const std::string& name, int64_t count, int64_t dim) {
  if (count > dim) return std::nullopt;
  return fmt::format(
      "{} has {} samples for {} features: its covariance is singular, and the distance is larger "
      "than that of more samples would be",
      name, count, dim);
}

}  // namespace tessera::distance
