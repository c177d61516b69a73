#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace tessera {

// How a clean point becomes noise:  x_tau = u(tau) * x0 + v(tau) * eps,  0 <= tau <= T.
enum class TrajectoryKind {
  ot,         // u = 1 - s, v = s                         (s = tau / T)
  vp_sqrt,    // u^2 + v^2 = 1 with the square-root schedule
  vp_cosine,  // ... the cosine schedule
  vp_linear,  // ... the linear schedule
  ve,         // u = 1, v = sigma_min * (sigma_max / sigma_min)^s
  vp_sine,    // u = sqrt(1 - s^2), v = s
};

template <>
struct EnumNames<TrajectoryKind> {
  static constexpr std::string_view what = "trajectory";
  static constexpr std::array<std::pair<TrajectoryKind, std::string_view>, 6> values{{
      {TrajectoryKind::ot, "ot"},
      {TrajectoryKind::vp_sqrt, "vp-sqrt"},
      {TrajectoryKind::vp_cosine, "vp-cosine"},
      {TrajectoryKind::vp_linear, "vp-linear"},
      {TrajectoryKind::ve, "ve"},
      {TrajectoryKind::vp_sine, "vp-sine"},
  }};
};

struct TrajectoryOptions {
  TrajectoryKind kind = TrajectoryKind::ot;
  int64_t horizon = 2000;   // T, steps
  double sigma_min = 0.01;  // ve: v(0)
  double sigma_max = 50.0;  // ve: v(T)
};

struct Coefficients {
  at::Tensor u, v;
};

// The coefficient functions at real-valued times, in the dtype and on the device of their argument
// (computed in float64). A small immutable value: copy it freely, share it between threads.
class TESSERA_API Trajectory {
 public:
  explicit Trajectory(const TrajectoryOptions& options = {});
  Trajectory(std::string_view name, int64_t horizon);  // "ot", "vp-sqrt", ...

  const TrajectoryOptions& options() const { return options_; }
  TrajectoryKind kind() const { return options_.kind; }
  double horizon() const { return static_cast<double>(options_.horizon); }
  bool variance_preserving() const;

  // tau [...] in [0, T]  ->  [...]
  Coefficients at(const at::Tensor& tau) const;
  at::Tensor u(const at::Tensor& tau) const { return at(tau).u; }
  at::Tensor v(const at::Tensor& tau) const { return at(tau).v; }

  // Derivatives with respect to s = tau / T.  (VP: of the interpolated angle, taken to the right at
  // whole steps.)
  Coefficients derivatives(const at::Tensor& tau) const;

  // rho = u / v, strictly decreasing in tau; +inf where v = 0.
  at::Tensor ratio(const at::Tensor& tau) const;

  // The inverse of ratio(), clamped: +inf and everything above ratio(0) gives 0, everything at or
  // below ratio(T), -inf included, gives T.
  at::Tensor time_of_ratio(const at::Tensor& rho) const;

  // The same for one time.
  double u(double tau) const;
  double v(double tau) const;
  double ratio(double tau) const;
  double final_ratio() const { return final_ratio_; }  // rho(T)

  // VP only: the angle theta of u = cos(theta), v = sin(theta), its inverse, and theta(T).
  at::Tensor angle(const at::Tensor& tau) const;
  at::Tensor time_of_angle(const at::Tensor& theta) const;
  double final_angle() const;

 private:
  struct AngleTable;  // theta_k for k = 0 .. T, with its copies on other devices

  TrajectoryOptions options_;
  std::shared_ptr<AngleTable> angles_;  // VP only, but not vp_sine: its angle has a formula
  double final_ratio_ = 0;
};

}  // namespace tessera
