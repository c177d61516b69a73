#include "nn/precision.h"

namespace tessera::nn {

Precision usual_precision(c10::Device device) {
  return device.is_cuda() ? Precision::bfloat16 : Precision::float32;
}

Precision parse_precision(std::string_view name, c10::Device device) {
  constexpr std::string_view kUsual = "auto";
  return name == kUsual ? usual_precision(device) : parse_name<Precision>(name, {kUsual});
}

}  // namespace tessera::nn
