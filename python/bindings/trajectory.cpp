#include "keywords.h"
#include "tensor_like.h"

#include <tessera/process/sampler.h>
#include <tessera/process/trajectory.h>

namespace tessera::python {

void bind_trajectory(py::module_& module) {
  py::class_<Trajectory>(module, "Trajectory",
                         "How a clean point becomes noise: x = u * x0 + v * eps, at times in "
                         "[0, horizon].")
      .def(py::init(
               [](const std::string& kind, int64_t horizon, double sigma_min, double sigma_max) {
                 return Trajectory({.kind = parse_name<TrajectoryKind>(kind),
                                    .horizon = horizon,
                                    .sigma_min = sigma_min,
                                    .sigma_max = sigma_max});
               }),
           py::arg("kind") = std::string(name_of(TrajectoryOptions().kind)), py::kw_only(),
           py::arg("horizon") = TrajectoryOptions().horizon,
           py::arg("sigma_min") = TrajectoryOptions().sigma_min,
           py::arg("sigma_max") = TrajectoryOptions().sigma_max)
      .def_property_readonly("kind",
                             [](const Trajectory& t) { return std::string(name_of(t.kind())); })
      .def_property_readonly("horizon", &Trajectory::horizon)
      .def(
          "u", [](const Trajectory& t, const TensorLike& tau) { return t.u(tau.tensor); },
          py::arg("tau"), Released())
      .def(
          "v", [](const Trajectory& t, const TensorLike& tau) { return t.v(tau.tensor); },
          py::arg("tau"), Released())
      .def(
          "ratio", [](const Trajectory& t, const TensorLike& tau) { return t.ratio(tau.tensor); },
          py::arg("tau"), Released(), "u / v, which falls with time; infinite where v is 0.")
      .def(
          "time_of_ratio",
          [](const Trajectory& t, const TensorLike& rho) { return t.time_of_ratio(rho); },
          py::arg("rho"), Released(), "The inverse of ratio(), in [0, horizon].")
      .def("__repr__", [](const Trajectory& t) {
        return fmt::format("Trajectory('{}', horizon={})", name_of(t.kind()), t.options().horizon);
      });
  module.def(
      "network_time", [](const TensorLike& t, double horizon) { return network_time(t, horizon); },
      py::arg("t"), py::arg("horizon"), Released(),
      "The time a network is told: (t - 1) * 1000 / horizon, the same range whatever the horizon.");
}

}  // namespace tessera::python
