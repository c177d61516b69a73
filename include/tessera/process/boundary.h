#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/process/codebook.h>

namespace tessera {

// The stopping time of a path that never leaves its cell.
enum class NoExit {
  full,  // T: the whole path is inside (the paper's intent)
  zero,  // 0: such a path is not rescaled
};

template <>
struct EnumNames<NoExit> {
  static constexpr std::string_view what = "no-exit policy";
  static constexpr std::array<std::pair<NoExit, std::string_view>, 2> values{
      {{NoExit::full, "full"}, {NoExit::zero, "zero"}}};
};

struct StoppingTime {
  at::Tensor t0;       // [...] in [0, T], no gradient
  at::Tensor outside;  // [...] bool: x0 outside its own cell, t0 = 0
  at::Tensor no_exit;  // [...] bool: decided by the policy
};

// G(x0, eps) of the paper: the time at which u*x0 + v*eps leaves the cell of its label.
//   x0, eps [..., d], labels [...]  ->  [...]
TESSERA_API StoppingTime stopping_time(const Trajectory& trajectory, const Codebook& codebook,
                                       const at::Tensor& x0, const at::Tensor& eps,
                                       const at::Tensor& labels, NoExit policy = NoExit::full);

// The policy applied to an exit that a codebook has found.
TESSERA_API StoppingTime stopping_time(const Trajectory& trajectory, const Exit& exit,
                                       NoExit policy);

}  // namespace tessera
