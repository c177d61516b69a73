#include "nn/int8_linear.h"

#include "base/require.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace tessera::nn {

bool has_int8_kernels() {
  return !kernels::cpu::available_int8_kernels().empty();
}

const kernels::cpu::Int8Kernels& int8_kernels() {
  require(has_int8_kernels(), "this CPU cannot compute in 8 bits: it has no AVX2");
  return *kernels::cpu::available_int8_kernels().front();
}

kernels::cpu::Int8Linear int8_form(const Linear& layer) {
  return {layer.weight.rounded(),
          layer.bias.defined() ? layer.bias->const_data_ptr<float>() : nullptr};
}

at::Tensor int8_linear(const Linear& layer, const at::Tensor& x) {
  constexpr int64_t kRowsOfATask = 24;
  const auto form = int8_form(layer);
  const int64_t inputs = form.matrix->inputs(), outputs = form.matrix->outputs();
  const at::Tensor from = x.to(at::kFloat).contiguous();
  auto sizes = x.sizes().vec();
  sizes.back() = outputs;
  at::Tensor result = at::empty(sizes, from.options());
  const float* const read = from.const_data_ptr<float>();
  float* const written = result.mutable_data_ptr<float>();
  at::parallel_for(0, from.numel() / inputs, kRowsOfATask, [&](int64_t begin, int64_t end) {
    int8_kernels().linear(form, read + begin * inputs, end - begin, written + begin * outputs);
  });
  return result;
}

}  // namespace tessera::nn
