#include "nn/precision.h"

#include "base/require.h"
#include "nn/int8.h"

namespace tessera::nn {

Precision usual_precision(c10::Device device) {
  return device.is_cuda() ? Precision::bfloat16 : Precision::float32;
}

Precision parse_precision(std::string_view name, c10::Device device) {
  constexpr std::string_view kUsual = "auto";
  const Precision precision =
      name == kUsual ? usual_precision(device) : parse_name<Precision>(name, {kUsual});
  if (precision == Precision::int8) {
    require_option(device.is_cpu(), "precision int8 is for a CPU: with a GPU take bfloat16");
    require_option(has_int8_kernels(),
                   "precision int8 needs a CPU with AVX2: take float32 or bfloat16");
  }
  return precision;
}

}  // namespace tessera::nn
