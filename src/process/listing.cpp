#include "process/listing.h"

#include "base/require.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera::listing {
namespace {

constexpr double kRatioCap = 100.0;

}  // namespace

at::Tensor index(const Trajectory& trajectory, const at::Tensor& t0) {
  require(trajectory.variance_preserving(), "exact_index needs a VP trajectory, not '{}'",
          name_of(trajectory.kind()));
  const double cap =
      trajectory.time_of_ratio(at::scalar_tensor(1.0 / kRatioCap, at::kDouble)).item<double>();
  return (t0.clamp_max(cap).ceil() - 1).clamp_min(0);
}

at::Tensor tau(const at::Tensor& t, const at::Tensor& index, double r, double horizon) {
  std::vector<int64_t> shape(index.dim(), 1);
  if (index.dim() > 0) shape[0] = t.size(0);
  const at::Tensor timestep = t.reshape(shape) - 1;
  const at::Tensor rescaled =
      (timestep + index - (timestep + 1) / horizon * index).trunc().clamp(0, horizon);
  const at::Tensor row = (r * rescaled + (1 - r) * timestep).trunc().clamp(0, horizon);
  return (row + 1).clamp(1, horizon);
}

at::Tensor row_time(const at::Tensor& tau, double horizon) {
  return tau.floor().clamp(1, horizon);
}

}  // namespace tessera::listing
