#include "self_check.h"

#include "base/require.h"
#include "codebook/table_exit.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tessera::app {
namespace {

at::Tensor random_matrix(int64_t rows, int64_t columns, uint64_t step) {
  const StreamId stream{.seed = 1, .purpose = Purpose::test, .step = step};
  return random_normal(stream, at::arange(rows, at::kLong), {columns});
}

double dot(const float* a, const float* b, int64_t d) {
  double sum = 0;
  for (int64_t i = 0; i < d; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// Largest b_J / a_J of kernels/exit_ratio.h, for codes without ties and points in their cells.
double naive_exit_ratio(const at::Tensor& codes, const at::Tensor& eps, int64_t element,
                        int64_t label) {
  const int64_t d = codes.size(1);
  const auto* table = codes.const_data_ptr<float>();
  const float* own = table + label * d;
  const float* noise = eps.const_data_ptr<float>() + element * d;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < codes.size(0); ++j) {
    if (j == label) continue;
    const float* other = table + j * d;
    const double a = dot(own, own, d) - dot(own, other, d);
    const double b = dot(noise, other, d) - dot(noise, own, d);
    largest = std::max(largest, b / a);
  }
  return largest;
}

}  // namespace

void check_boundary(at::Device device) {
  constexpr int64_t kElements = 97, kCodes = 301, kWidth = 24;
  at::Tensor codes = random_matrix(kCodes, kWidth, 0);
  codes = (codes / codes.norm(2, {-1}, true)).contiguous();
  const at::Tensor labels = at::arange(kElements, at::kLong) * 3;
  const at::Tensor eps = random_matrix(kElements, kWidth, 1);
  const TableExit exit =
      table_exit_ratio(codes.to(device), codes.index_select(0, labels).to(device), eps.to(device),
                       labels.to(device));
  const at::Tensor ratio = exit.value.cpu();
  require(!exit.outside.any().item<bool>(), "a code was found outside its own cell");
  for (int64_t i = 0; i < kElements; ++i) {
    const double expected = naive_exit_ratio(codes, eps, i, 3 * i);
    const double found = ratio.const_data_ptr<float>()[i];
    require(std::abs(found - expected) <= 1e-3 * std::max(1.0, std::abs(expected)),
            "the exit ratio of element {} is {}, but should be {}", i, found, expected);
  }
}

void check_matmul(at::Device device, at::ScalarType dtype) {
  const at::Tensor a = random_matrix(96, 160, 2).to(dtype), b = random_matrix(160, 64, 3).to(dtype);
  const at::Tensor expected = at::matmul(a.to(at::kDouble), b.to(at::kDouble));
  const at::Tensor found = at::matmul(a.to(device), b.to(device)).cpu().to(at::kDouble);
  const double error = ((found - expected).norm() / expected.norm()).item<double>();
  const double allowed = dtype == at::kBFloat16 ? 1e-2 : 1e-5;
  require(error <= allowed, "the product of matrices is off by {:.1e} (at most {:.0e} is rounding)",
          error, allowed);
}

}  // namespace tessera::app
