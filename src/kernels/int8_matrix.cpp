#include "kernels/int8_matrix.h"

#include <algorithm>
#include <cmath>

namespace tessera::kernels {

Int8Matrix::Int8Matrix(const float* weights, int64_t outputs, int64_t inputs)
    : outputs_(outputs), inputs_(inputs) {
  constexpr float kLargest = 127;
  const auto room = static_cast<size_t>(blocks() * kBlock);
  codes_.assign(room * static_cast<size_t>(groups() * kGroup), 0);
  scales_.assign(room, 0);
  sums_.assign(room, 0);
  for (int64_t output = 0; output < outputs; ++output) {
    const float* const row = weights + output * inputs;
    float largest = 0;
    for (int64_t k = 0; k < inputs; ++k) largest = std::max(largest, std::abs(row[k]));
    const float scale = largest / kLargest;
    const float inverse = scale > 0 ? 1 / scale : 0;
    int8_t* const to = codes_.data() + output / kBlock * groups() * kBlock * kGroup +
                       output % kBlock * kGroup;
    int64_t sum = 0;
    for (int64_t k = 0; k < inputs; ++k) {
      const auto code = static_cast<int8_t>(std::lround(row[k] * inverse));
      to[k / kGroup * kBlock * kGroup + k % kGroup] = code;
      sum += code;
    }
    scales_[static_cast<size_t>(output)] = scale;
    sums_[static_cast<size_t>(output)] = scale * static_cast<float>(sum);
  }
}

}  // namespace tessera::kernels
