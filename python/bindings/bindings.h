#pragma once

#include <torch/csrc/utils/pybind.h>

// The module tessera._tessera: the library's classes for Python. Each function adds one noun.
namespace tessera::python {

namespace py = pybind11;

// Of functions that compute: other threads of Python go on.
using Released = py::call_guard<py::gil_scoped_release>;

void bind_errors(py::module_& module);
void bind_trajectory(py::module_& module);
void bind_codebooks(py::module_& module);
void bind_process(py::module_& module);
void bind_objective(py::module_& module);
void bind_sampler(py::module_& module);
void bind_data(py::module_& module);
void bind_translator(py::module_& module);
void bind_images(py::module_& module);
void bind_metrics(py::module_& module);

}  // namespace tessera::python
