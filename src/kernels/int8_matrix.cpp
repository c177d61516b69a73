#include "kernels/int8_matrix.h"

#include <algorithm>
#include <cmath>

namespace tessera::kernels {

float round_weights(const float* weights, int64_t count, int8_t* codes) {
  constexpr float kLargest = 127;
  float largest = 0;
  for (int64_t k = 0; k < count; ++k) largest = std::max(largest, std::abs(weights[k]));
  const float scale = largest / kLargest, inverse = scale > 0 ? 1 / scale : 0;
  for (int64_t k = 0; k < count; ++k)
    codes[k] = static_cast<int8_t>(std::lround(weights[k] * inverse));
  return scale;
}

Int8Matrix::Int8Matrix(int64_t outputs, int64_t inputs) : outputs_(outputs), inputs_(inputs) {
  const auto room = static_cast<size_t>(blocks() * kBlock);
  codes_.assign(room * static_cast<size_t>(groups() * kGroup), 0);
  scales_.assign(room, 0);
  sums_.assign(room, 0);
}

Int8Matrix::Int8Matrix(const float* weights, int64_t outputs, int64_t inputs)
    : Int8Matrix(outputs, inputs) {
  std::vector<int8_t> codes(static_cast<size_t>(inputs));
  for (int64_t output = 0; output < outputs; ++output) {
    const float scale = round_weights(weights + output * inputs, inputs, codes.data());
    set(output, codes.data(), scale);
  }
}

Int8Matrix::Int8Matrix(const int8_t* codes, const float* scales, int64_t outputs, int64_t inputs)
    : Int8Matrix(outputs, inputs) {
  for (int64_t output = 0; output < outputs; ++output)
    set(output, codes + output * inputs, scales[output]);
}

void Int8Matrix::set(int64_t output, const int8_t* codes, float scale) {
  int8_t* const to =
      codes_.data() + output / kBlock * groups() * kBlock * kGroup + output % kBlock * kGroup;
  int64_t sum = 0;
  for (int64_t k = 0; k < inputs_; ++k) {
    to[k / kGroup * kBlock * kGroup + k % kGroup] = codes[k];
    sum += codes[k];
  }
  scales_[static_cast<size_t>(output)] = scale;
  sums_[static_cast<size_t>(output)] = scale * static_cast<float>(sum);
}

}  // namespace tessera::kernels
