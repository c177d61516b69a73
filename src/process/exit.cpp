#include "process/exit.h"

#include <ATen/ATen.h>

#include <limits>

namespace tessera {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Exit exit_of_ratio(const Trajectory& trajectory, const at::Tensor& ratio,
                   const at::Tensor& outside) {
  const at::Tensor never = ratio.to(at::kDouble) <= trajectory.final_ratio();
  return {trajectory.time_of_ratio(ratio).masked_fill(never, kNever), outside};
}

Exit exit_of_angle(const Trajectory& trajectory, const at::Tensor& angle,
                   const at::Tensor& outside) {
  const at::Tensor never = angle.to(at::kDouble) >= trajectory.final_angle();
  return {trajectory.time_of_angle(angle).masked_fill(never, kNever), outside};
}

}  // namespace tessera
