#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "tessera/files/safetensors.h"

namespace tessera::test {

// The contents of fixtures/python.safetensors, which safetensors_python_test.py writes too: every
// element type, no elements, no dimensions, and a name that JSON must escape.
inline safetensors::Tensors sample_tensors() {
  const std::array<std::pair<const char*, at::ScalarType>, 9> with_sign = {
      {{"i8", at::kChar},
       {"i16", at::kShort},
       {"i32", at::kInt},
       {"i64", at::kLong},
       {"f16", at::kHalf},
       {"bf16", at::kBFloat16},
       {"f32", at::kFloat},
       {"f64", at::kDouble},
       {"f8_e4m3", at::kFloat8_e4m3fn}}};
  const std::array<std::pair<const char*, at::ScalarType>, 4> without_sign = {
      {{"u8", at::kByte}, {"u16", at::kUInt16}, {"u32", at::kUInt32}, {"u64", at::kUInt64}}};

  safetensors::Tensors tensors;
  const at::Tensor values = at::arange(-3, 3, at::kFloat).reshape({2, 3});
  for (const auto& [name, type] : with_sign) tensors[name] = values.to(type);
  tensors["f8_e5m2"] = values.to(at::kFloat8_e5m2);
  const at::Tensor counts = at::arange(6, at::kLong).reshape({2, 3});
  for (const auto& [name, type] : without_sign) tensors[name] = counts.to(type);
  tensors["bool"] = counts.bitwise_and(1).to(at::kBool);
  tensors["scalar"] = at::full({}, 1.5, at::kFloat);
  tensors["empty"] = at::empty({0, 3}, at::kFloat);
  tensors["a \"name\"\n\xc3\xa9"] = at::full({1}, -1, at::kLong);
  return tensors;
}

// One key: Python's writer puts several in no particular order.
inline safetensors::Metadata sample_metadata() {
  return {{"format", "a \\ b"}};
}

// Whether two tensors agree in type, shape and every bit.
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace tessera::test
