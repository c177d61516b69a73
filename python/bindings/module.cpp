#include "bindings.h"

#include <tessera/tensor/value_checks.h>
#include <tessera/version.h>

PYBIND11_MODULE(_tessera, module) {
  using namespace tessera::python;
  module.doc() = "Boundary-conditional diffusion of discrete data: the library's classes.";
  bind_errors(module);
  bind_trajectory(module);
  bind_codebooks(module);
  bind_process(module);
  bind_objective(module);
  bind_sampler(module);
  bind_data(module);
  bind_translator(module);
  bind_images(module);
  bind_metrics(module);
  module.def("raise_deferred_errors", &tessera::raise_deferred_errors,
             py::call_guard<py::gil_scoped_release>(),
             "Raises Error if a check of values on a GPU has failed since the last call. Checks "
             "there do not wait for the device.");
  module.attr("__version__") = std::string(tessera::version());
}
