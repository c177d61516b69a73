#pragma once

#include <tessera/process/codebook.h>

namespace tessera {

// The exit at the time where u/v has fallen to `ratio`; none if that is at or below u(T)/v(T).
//   ratio, outside [...]
Exit exit_of_ratio(const Trajectory& trajectory, const at::Tensor& ratio,
                   const at::Tensor& outside);

// The same for an angle of a VP trajectory; none if it is at or above theta(T).
Exit exit_of_angle(const Trajectory& trajectory, const at::Tensor& angle,
                   const at::Tensor& outside);

}  // namespace tessera
