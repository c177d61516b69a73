#include "bindings.h"

#include <tessera/base/error.h>

#include <c10/util/Exception.h>

#include <exception>
#include <string>

namespace tessera::python {
namespace {

// The classes live as long as the process.
PyObject* error_class = nullptr;
PyObject* usage_error_class = nullptr;

PyObject* new_class(const char* name, const char* doc, PyObject* bases) {
  PyObject* made = PyErr_NewExceptionWithDoc(name, doc, bases, nullptr);
  if (made == nullptr) throw py::error_already_set();
  return made;
}

// The hint is an attribute, and a note that Python 3.11 and later show below the message.
void raise(PyObject* kind, const Error& error) {
  const py::object raised = py::handle(kind)(error.what());
  raised.attr("hint") = error.hint();
  if (!error.hint().empty()) {
    py::list notes;
    notes.append("hint: " + error.hint());
    raised.attr("__notes__") = notes;
  }
  PyErr_SetObject(kind, raised.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    raise(usage_error_class, error);
  } catch (const Error& error) {
    raise(error_class, error);
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
  }
}

}  // namespace

void bind_errors(py::module_& module) {
  error_class = new_class("tessera.Error",
                          "What the library raises: the message says what is wrong and why, `hint` "
                          "(may be empty) what to do about it.",
                          PyExc_RuntimeError);
  py::handle(error_class).attr("hint") = "";
  const py::tuple bases = py::make_tuple(py::handle(error_class), py::handle(PyExc_ValueError));
  usage_error_class = new_class("tessera.UsageError", "A wrong argument or option.", bases.ptr());
  module.attr("Error") = py::handle(error_class);
  module.attr("UsageError") = py::handle(usage_error_class);
  py::register_exception_translator(&translate);
}

}  // namespace tessera::python
