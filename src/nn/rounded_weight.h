#pragma once

#include <tessera/files/safetensors.h>

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

namespace tessera::nn {

// A weight that is stored in 8 bits: NAME holds its codes and NAME.scale their scales.
struct RoundedWeight {
  at::Tensor codes;   // [outputs, inputs] int8
  at::Tensor scales;  // [outputs] float32

  static RoundedWeight of(const at::Tensor& weight);  // float32
  // Nothing if the file does not have it, or not in 8 bits. Throws Error if its scales are missing
  // or do not fit.
  static std::optional<RoundedWeight> read(const safetensors::File& file, const std::string& name);
  static std::string scale_name(const std::string& name) { return name + ".scale"; }

  at::Tensor value() const;  // [outputs, inputs] float32
};

}  // namespace tessera::nn
