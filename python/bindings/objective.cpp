#include "keywords.h"
#include "process/declare.h"
#include "tensor_like.h"

#include <tessera/process/objective.h>

namespace tessera::python {
namespace {

void declare_objective(config::Schema& schema, ObjectiveOptions& options) {
  declare_error(schema, "", options);
  declare_rounding(schema, "", options);
  declare_smoothing(schema, "", options);
}

std::vector<Parameter> objective_parameters() {
  ObjectiveOptions options;
  return parameters_of([&](config::Schema& schema) { declare_objective(schema, options); });
}

Loss objective_of(const Process& process, const Codebook& codebook, const Noised& noised,
                  const TensorLike& x0_hat, const TensorLike& x0, const TensorLike& labels,
                  const std::optional<TensorLike>& mask, const py::kwargs& given) {
  ObjectiveOptions options;
  if (!given.empty())
    set_options("objective", given,
                [&](config::Schema& schema) { declare_objective(schema, options); });
  const at::Tensor counted = tensor_or_none(mask);
  const py::gil_scoped_release released;
  return objective(process, codebook, noised, x0_hat, x0, labels, counted, options);
}

}  // namespace

void bind_objective(py::module_& module) {
  py::class_<Loss>(module, "Loss", "Scalars with their gradients; total is their weighted sum.")
      .def_readonly("total", &Loss::total)
      .def_readonly("mse", &Loss::mse)
      .def_readonly("cross_entropy", &Loss::cross_entropy);
  py::options options;
  options.disable_function_signatures();
  const std::string doc = written(
      {.name = "objective",
       .leading = "process: tessera._tessera.Process, codebook: tessera._tessera.Codebook, "
                  "noised: tessera._tessera.Noised, x0_hat: torch.Tensor | numpy.ndarray, "
                  "x0: torch.Tensor | numpy.ndarray, labels: torch.Tensor | numpy.ndarray, "
                  "mask: torch.Tensor | numpy.ndarray | None = None",
       .keywords = objective_parameters(),
       .result = "tessera._tessera.Loss",
       .text = "What the network's estimate lacks.\n"
               "    x0_hat, x0 [B, ..., dim], labels [B, ...], mask [B, ...] bool (true: counts); "
               "None: all count"});
  module.def("objective", &objective_of, py::arg("process"), py::arg("codebook"), py::arg("noised"),
             py::arg("x0_hat"), py::arg("x0"), py::arg("labels"), py::arg("mask") = py::none(),
             doc.c_str());
}

}  // namespace tessera::python
