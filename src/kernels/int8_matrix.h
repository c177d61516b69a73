#pragma once

#include <cstdint>
#include <vector>

namespace tessera::kernels {

// Rounds the weights of an output to codes. Returns their scale.
float round_weights(const float* weights, int64_t count, int8_t* codes);

// The weights of a linear layer for products in 8 bits on a CPU: rounded to whole numbers, with a
// scale for every output. Weight k of output j is about scale[j] * code.
//
// Codes lie in blocks of 16 outputs, and in a block in groups of 4 inputs, as the instructions read
// them: [outputs / 16][inputs / 4][16][4]. Zeros fill the last block and the last group.
class Int8Matrix {
 public:
  static constexpr int64_t kBlock = 16, kGroup = 4;

  Int8Matrix() = default;
  Int8Matrix(const float* weights, int64_t outputs, int64_t inputs);  // [outputs, inputs]
  // Weights that are rounded.   codes [outputs, inputs], scales [outputs]
  Int8Matrix(const int8_t* codes, const float* scales, int64_t outputs, int64_t inputs);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  int64_t groups() const { return (inputs_ + kGroup - 1) / kGroup; }
  int64_t blocks() const { return (outputs_ + kBlock - 1) / kBlock; }

  const int8_t* block(int64_t index) const {
    return codes_.data() + index * groups() * kBlock * kGroup;
  }
  // For every output, and 0 up to the end of the last block: its scale, and the sum of its rounded
  // weights.
  const float* scales() const { return scales_.data(); }
  const float* sums() const { return sums_.data(); }

 private:
  Int8Matrix(int64_t outputs, int64_t inputs);
  void set(int64_t output, const int8_t* codes, float scale);

  int64_t outputs_ = 0, inputs_ = 0;
  std::vector<int8_t> codes_;
  std::vector<float> scales_, sums_;
};

}  // namespace tessera::kernels
