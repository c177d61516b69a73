#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace tessera::test {

// [rows, columns] float64 of small whole numbers. The Python scripts behind the golden values use
// the same rule:
//   (a i² + b j + 3 i j) mod 11 - 5
inline at::Tensor made_factor(int64_t rows, int64_t columns, int64_t a, int64_t b) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values.push_back(static_cast<double>((a * i * i + b * j + 3 * i * j) % 11 - 5));
  return at::tensor(values, at::kDouble).reshape({rows, columns});
}

}  // namespace tessera::test
