#pragma once

#include <tessera/base/enum_names.h>

#include <c10/core/Device.h>

#include <string_view>

namespace tessera::nn {

// The type that a network computes in. Stored and trained weights, codes and losses are always
// float32. int8: operands of products are rounded to 8 bits, weights by output, inputs by row;
// everything else is float32. It is for generating text on a CPU.
enum class Precision { float32, bfloat16, int8 };

// The default: bfloat16 on CUDA, float32 on the CPU.
Precision usual_precision(c10::Device device);

// By its name, or "auto" for the default. Throws UsageError, also for int8 where it cannot be used.
Precision parse_precision(std::string_view name, c10::Device device);

}  // namespace tessera::nn

template <>
struct tessera::EnumNames<tessera::nn::Precision> {
  using Precision = tessera::nn::Precision;
  static constexpr std::string_view what = "precision";
  static constexpr std::array<std::pair<Precision, std::string_view>, 3> values{
      {{Precision::float32, "float32"},
       {Precision::bfloat16, "bfloat16"},
       {Precision::int8, "int8"}}};
};
