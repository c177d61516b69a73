#include "codebook/table_mean.h"

#include "support/tensors.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

// table_mean() in float64, with every score stored.
at::Tensor stored(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x,
                  double scale) {
  const at::Tensor table = codes.to(at::kDouble);
  at::Tensor scores = at::matmul(x.to(at::kDouble), table.t()) * scale;
  if (bias.defined()) scores = scores + bias.to(at::kDouble);
  return at::matmul(scores.softmax(-1), table);
}

TEST(TableMean, IsThatOfFloat64) {
  for (const auto& [points, symbols, dim] :
       {std::tuple{1, 1, 4}, std::tuple{7, 3, 2}, std::tuple{33, 1000, 30},
        std::tuple{500, 2003, 128}}) {
    const at::Tensor codes = test::unit_codes(symbols, dim, 1);
    for (const double length : {0.05, 0.3, 1.0}) {
      const at::Tensor x = length * test::unit_codes(points, dim, 2);
      for (const double scale : {1.0, 1 / std::sqrt(dim)}) {
        const at::Tensor expected = stored(codes, {}, x, scale);
        EXPECT_LT(test::largest_difference(table_mean(codes, {}, x, scale), expected), 2e-4)
            << points << " x " << symbols << " x " << dim;
        EXPECT_LT(test::largest_difference(table_mean(codes, {}, x.to(at::kDouble), scale),
                                           stored(codes, {}, x, scale)),
                  1e-5);
      }
    }
  }
}

TEST(TableMean, KnowsABias) {
  const at::Tensor codes = test::unit_codes(9000, 16, 1), bias = test::normal({9000}, 2);
  const at::Tensor x = 0.2 * test::unit_codes(700, 16, 3);
  EXPECT_LT(test::largest_difference(table_mean(codes, bias, x, 1), stored(codes, bias, x, 1)),
            2e-4);
}

TEST(TableMean, OfNoPointsIsNoPoints) {
  EXPECT_EQ(table_mean(test::unit_codes(5, 4, 1), {}, at::zeros({0, 4}), 1).sizes(),
            (std::vector<int64_t>{0, 4}));
}

}  // namespace
}  // namespace tessera
