#include "keywords.h"
#include "process/declare.h"
#include "tensor_like.h"

#include <tessera/process/process.h>

namespace tessera::python {
namespace {

std::vector<Parameter> process_parameters() {
  ProcessOptions options;
  return parameters_of([&](config::Schema& schema) { declare(schema, "", options); });
}

void bind_noised(py::module_& module) {
  py::class_<Noised>(module, "Noised", "Noisy points and where they came from.")
      .def_readonly("x", &Noised::x, "[B, ..., dim] u(tau) * x0 + v(tau) * eps")
      .def_readonly("tau", &Noised::tau, "[B, ...] rescaled time of every element")
      .def_readonly("t0", &Noised::t0, "[B, ...] stopping time of every element")
      .def_readonly("speed", &Noised::speed, "[B, ...] d tau / d t")
      .def_readonly("outside", &Noised::outside,
                    "[B, ...] bool: x0 outside its own cell; None where r = 0")
      .def_readonly("no_exit", &Noised::no_exit,
                    "[B, ...] bool: the path never leaves; None where r = 0")
      .def_readonly("eps", &Noised::eps, "[B, ..., dim] the noise end of the paths");
}

}  // namespace

void bind_process(py::module_& module) {
  bind_noised(module);
  py::class_<Process> process(
      module, "Process",
      "The forward process (Algorithm 1): paths from codes to noise, rescaled to begin on the "
      "borders of the cells.");
  {
    py::options options;
    options.disable_function_signatures();
    process.def(py::init([](const py::object& trajectory, const py::kwargs& given) {
                  ProcessOptions set;
                  set_options("Process", with(given, "trajectory", trajectory),
                              [&](config::Schema& schema) { declare(schema, "", set); });
                  return Process(set);
                }),
                py::arg("trajectory") = py::none(),
                written({.positional = "trajectory",
                         .keywords = process_parameters(),
                         .text = "Immutable; threads may share it."})
                    .c_str());
  }
  process.def_property_readonly("trajectory", [](const Process& p) { return p.trajectory(); })
      .def_property_readonly("r", [](const Process& p) { return p.options().r; })
      .def_property_readonly("horizon", [](const Process& p) { return p.trajectory().horizon(); })
      .def(
          "noise",
          [](const Process& p, const Codebook& codebook, const TensorLike& x0,
             const TensorLike& labels, const TensorLike& eps,
             const TensorLike& t) { return p.noise(codebook, x0, labels, eps, t); },
          py::arg("codebook"), py::arg("x0"), py::arg("labels"), py::arg("eps"), py::arg("t"),
          Released(),
          "The noisy points at time t of the rescaled paths from x0 to eps. Gradients flow to x0.\n"
          "    x0, eps [B, ..., dim], labels [B, ...] int64, t [B] in [0, horizon]")
      .def(
          "draw_time",
          [](const Process& p, uint64_t seed, uint64_t step, const TensorLike& samples) {
            return p.draw_time({seed, Purpose::training_time, step}, samples);
          },
          py::arg("seed"), py::arg("step"), py::arg("samples"), Released(),
          "Training times, a function of (seed, step, sample).  samples [B] int64 -> [B] float32")
      .def(
          "training_time",
          [](const Process& p, const Codebook& codebook, const TensorLike& drawn) {
            return p.training_time(codebook, drawn);
          },
          py::arg("codebook"), py::arg("drawn"), Released(),
          "The same with the bound of min_time and min_time_from_codes, if there is one.")
      .def(
          "draw_noise",
          [](const Process& p, uint64_t seed, uint64_t step, const TensorLike& samples,
             const std::vector<int64_t>& shape) {
            return p.draw_noise({seed, Purpose::training_noise, step}, samples, shape);
          },
          py::arg("seed"), py::arg("step"), py::arg("samples"), py::arg("shape"), Released(),
          "Normal noise, a function of (seed, step, sample).  samples [B] int64 -> [B, *shape] "
          "float32");
}

}  // namespace tessera::python
