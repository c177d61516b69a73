#include "tensor/tensor_checks.h"

#include "base/require.h"

#include <fmt/ranges.h>

namespace tessera {
namespace {

std::string dtype_text(at::ScalarType dtype) {
  return c10::toString(dtype);
}

}  // namespace

std::string shape_text(at::IntArrayRef shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

void require_defined(const at::Tensor& x, std::string_view argument) {
  require(x.defined(), "{} is an undefined tensor", argument);
}

void require_floating(const at::Tensor& x, std::string_view argument) {
  require_defined(x, argument);
  require(x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble,
          "{} must be float32 or float64, got {}", argument, dtype_text(x.scalar_type()));
}

void require_labels(const at::Tensor& labels, std::string_view argument) {
  require_defined(labels, argument);
  require(labels.scalar_type() == at::kLong, "{} must be int64, got {}", argument,
          dtype_text(labels.scalar_type()));
}

void require_shape(const at::Tensor& x, at::IntArrayRef shape, std::string_view argument) {
  require_defined(x, argument);
  require(x.sizes() == shape, "{} must have shape {}, got {}", argument, shape_text(shape),
          shape_text(x.sizes()));
}

void require_same_device(const at::Tensor& x, at::Device device, std::string_view argument) {
  require_defined(x, argument);
  require(x.device() == device, "{} must be on device {}, is on {}", argument, device.str(),
          x.device().str());
}

void require_same_dtype(const at::Tensor& x, at::ScalarType dtype, std::string_view argument) {
  require_defined(x, argument);
  require(x.scalar_type() == dtype, "{} must be {}, got {}", argument, dtype_text(dtype),
          dtype_text(x.scalar_type()));
}

}  // namespace tessera
