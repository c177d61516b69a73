#include <tessera/process/boundary.h>

#include <ATen/ATen.h>

namespace tessera {

StoppingTime stopping_time(const Trajectory& trajectory, const Codebook& codebook,
                           const at::Tensor& x0, const at::Tensor& eps, const at::Tensor& labels,
                           NoExit policy) {
  return stopping_time(trajectory, codebook.exit_time(trajectory, x0, eps, labels), policy);
}

StoppingTime stopping_time(const Trajectory& trajectory, const Exit& exit, NoExit policy) {
  const at::Tensor no_exit = at::isinf(exit.time);
  const double fallback = policy == NoExit::full ? trajectory.horizon() : 0.0;
  return {exit.time.masked_fill(no_exit, fallback), exit.outside, no_exit};
}

}  // namespace tessera
