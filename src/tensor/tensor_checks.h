#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace tessera {

// "[3, 4, 128]"
std::string shape_text(at::IntArrayRef shape);

// Each throws Error naming the argument and what it should have been.
void require_defined(const at::Tensor& x, std::string_view argument);
void require_floating(const at::Tensor& x, std::string_view argument);     // float32 or float64
void require_labels(const at::Tensor& labels, std::string_view argument);  // int64
void require_shape(const at::Tensor& x, at::IntArrayRef shape, std::string_view argument);
void require_same_device(const at::Tensor& x, at::Device device, std::string_view argument);
void require_same_dtype(const at::Tensor& x, at::ScalarType dtype, std::string_view argument);

}  // namespace tessera
