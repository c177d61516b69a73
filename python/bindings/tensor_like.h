#pragma once

#include "bindings.h"

#include <ATen/core/Tensor.h>

namespace tessera::python {

// An argument that is a tensor, or a NumPy array or list that becomes one. The memory of an array
// is shared, not copied.
struct TensorLike {
  at::Tensor tensor;

  operator const at::Tensor&() const { return tensor; }  // NOLINT: stands for the tensor
};

// None is no tensor.
inline at::Tensor tensor_or_none(const std::optional<TensorLike>& given) {
  return given ? given->tensor : at::Tensor();
}

}  // namespace tessera::python

namespace pybind11::detail {

template <>
struct type_caster<tessera::python::TensorLike> {
  PYBIND11_TYPE_CASTER(tessera::python::TensorLike, const_name("torch.Tensor | numpy.ndarray"));

  bool load(handle source, bool convert) {
    make_caster<at::Tensor> tensor;
    if (tensor.load(source, convert)) {
      value.tensor = cast_op<at::Tensor&>(tensor);
      return true;
    }
    const bool array = hasattr(source, "__array_interface__");
    if (!array && !isinstance<list>(source) && !isinstance<tuple>(source)) return false;
    const object made = module_::import("torch").attr("as_tensor")(source);
    if (!tensor.load(made, convert)) return false;
    value.tensor = cast_op<at::Tensor&>(tensor);
    return true;
  }
};

}  // namespace pybind11::detail
