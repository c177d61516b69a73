#include "kernels/bit_exit.h"

#include "codebook/bit_exit.h"
#include "kernels/cpu/row_scan.h"
#include "support/tensors.h"

#include <gtest/gtest.h>

#include <limits>

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor closed_form(const at::Tensor& x0, const at::Tensor& eps) {
  return at::where(x0 * eps < 0, eps.abs() / x0.abs(), -kInfinity).amax(-1);
}

TEST(BitExit, MatchesTheClosedFormForEveryWidth) {
  for (int width = 1; width <= 16; ++width) {
    const at::Tensor x0 = test::normal({33, 29, width}, width),
                     eps = test::normal({33, 29, width}, 100 + width);
    const auto exit = bit_exit_ratio(x0, eps, {});
    // Bits that noise moves further into the cell have a negative ratio instead of none.
    EXPECT_TRUE(
        at::allclose(exit.ratio.clamp_min(0), closed_form(x0, eps).clamp_min(0), 1e-5, 1e-6))
        << "width " << width;
    EXPECT_FALSE(exit.outside.any().item<bool>());
    EXPECT_TRUE(at::equal(bit_exit_ratio(x0, eps, exit.patterns).ratio, exit.ratio));
  }
}

TEST(BitExit, EveryInstructionSetGivesTheSameAnswer) {
  for (const int width : {3, 8, 16}) {
    const at::Tensor x0 = test::normal({501, width}, 1), eps = test::normal({501, width}, 2);
    const auto expected = bit_exit_ratio(x0, eps, {});
    for (const auto* scan : kernels::cpu::available_row_scans()) {
      at::Tensor patterns = at::full({501}, -5, at::kLong), ratio = at::zeros({501});
      at::Tensor outside = at::ones({501}, at::kBool);
      scan->bit_exit({x0.const_data_ptr<float>(), eps.const_data_ptr<float>(), 501, width, true,
                      patterns.mutable_data_ptr<int64_t>(), ratio.mutable_data_ptr<float>(),
                      outside.mutable_data_ptr<bool>()},
                     0, 501);
      EXPECT_TRUE(at::equal(ratio, expected.ratio)) << scan->name;
      EXPECT_TRUE(at::equal(patterns, expected.patterns)) << scan->name;
      EXPECT_FALSE(outside.any().item<bool>()) << scan->name;
    }
  }
}

TEST(BitExit, OfNoPatternIsAnExitAtOnce) {
  const auto exit =
      bit_exit_ratio(at::ones({1, 8}), at::ones({1, 8}), at::full({1}, -1, at::kLong));
  EXPECT_EQ(exit.ratio.item<double>(), kInfinity);
  EXPECT_FALSE(exit.outside.item<bool>());
}

}  // namespace
}  // namespace tessera
