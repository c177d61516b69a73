#include <tessera/codebook/symbol_table.h>

#include <tessera/base/error.h>
#include <tessera/process/trajectory.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessera {
namespace {

at::Tensor table(int64_t rows) {
  return at::arange(rows * 2, at::kFloat).view({rows, 2});
}

TEST(SymbolTable, IsReadAsVectorsAndAnsweredWithLogits) {
  const SymbolTable codes(table(4), /*mask=*/true);
  EXPECT_EQ(codes.symbols(), 4);
  EXPECT_EQ(codes.decodable(), 3);
  EXPECT_EQ(codes.dim(), 2);
  EXPECT_EQ(codes.output_dim(), 3);
  EXPECT_TRUE(at::equal(codes.encode(at::tensor({3, 0}, at::kLong)),
                        at::tensor({6.F, 7.F, 0.F, 1.F}).view({2, 2})));
  const at::Tensor logits = at::tensor({0.F, 2.F, 1.F}).view({1, 3});
  EXPECT_EQ(codes.decode(logits).item<int64_t>(), 1);
  EXPECT_TRUE(at::equal(codes.logits(logits), logits));
  EXPECT_EQ(codes.scores(logits)[0][3].item<float>(), -std::numeric_limits<float>::infinity());
  const double all = 1 + std::exp(2) + std::exp(1);
  EXPECT_NEAR(codes.cross_entropy(logits, at::tensor({2}, at::kLong)).item<double>(),
              std::log(all) - 1, 1e-5);
}

TEST(SymbolTable, AMaskHasNoRowAndNoLoss) {
  const SymbolTable codes(table(4), /*mask=*/true);
  EXPECT_TRUE(at::equal(codes.rows_of(at::tensor({0, 2, 3}, at::kLong)),
                        at::tensor({0, 2, -1}, at::kLong)));
  EXPECT_EQ(codes.cross_entropy(at::zeros({1, 3}), at::tensor({3}, at::kLong)).item<float>(), 0);
}

TEST(SymbolTable, VectorsAreTrained) {
  const at::Tensor weight = table(3).requires_grad_();
  SymbolTable(weight, /*mask=*/false).encode(at::tensor({1, 1}, at::kLong)).sum().backward();
  EXPECT_TRUE(at::equal(weight.grad(), at::tensor({0.F, 0.F, 2.F, 2.F, 0.F, 0.F}).view({3, 2})));
}

TEST(SymbolTable, HasNoCells) {
  const SymbolTable codes(table(3), /*mask=*/false);
  const at::Tensor x = at::zeros({1, 2});
  EXPECT_THROW(codes.exit_time(Trajectory(), x, x, at::zeros({1}, at::kLong)), Error);
  EXPECT_THROW(SymbolTable(table(2), /*mask=*/true), Error) << "one symbol and a mask";
}

}  // namespace
}  // namespace tessera
