#include "nn/rounded_weight.h"

#include "base/require.h"
#include "kernels/int8_matrix.h"

#include <ATen/ATen.h>

namespace tessera::nn {

RoundedWeight RoundedWeight::of(const at::Tensor& weight) {
  const at::Tensor from = weight.contiguous();
  const int64_t outputs = from.size(0), inputs = from.size(1);
  RoundedWeight result{at::empty({outputs, inputs}, at::kChar), at::empty({outputs}, at::kFloat)};
  for (int64_t output = 0; output < outputs; ++output)
    result.scales.mutable_data_ptr<float>()[output] =
        kernels::round_weights(from.const_data_ptr<float>() + output * inputs, inputs,
                               result.codes.mutable_data_ptr<int8_t>() + output * inputs);
  return result;
}

std::optional<RoundedWeight> RoundedWeight::read(const safetensors::File& file,
                                                 const std::string& name) {
  if (!file.contains(name)) return std::nullopt;
  const at::Tensor codes = file.tensor(name);
  if (codes.scalar_type() != at::kChar || codes.dim() != 2) return std::nullopt;
  const at::Tensor scales = file.tensor(scale_name(name));
  require(scales.scalar_type() == at::kFloat && scales.sizes() == codes.sizes().slice(0, 1),
          "'{}' must have a float32 number for each of the {} outputs of '{}'", scale_name(name),
          codes.size(0), name);
  return RoundedWeight{codes, scales};
}

at::Tensor RoundedWeight::value() const {
  return codes.to(at::kFloat) * scales.unsqueeze(1);
}

}  // namespace tessera::nn
