#include "tensor/slices.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Slices, HoldNoMoreScoresThanAreKept) {
  std::vector<std::pair<int64_t, int64_t>> seen;
  const auto squares = [&](int64_t begin, int64_t count) {
    seen.emplace_back(begin, count);
    return at::arange(begin, begin + count).square();
  };
  const at::Tensor all = in_slices(10, int64_t{1} << 20, at::kCPU, squares);
  EXPECT_TRUE(at::equal(all, at::arange(10).square()));
  EXPECT_THAT(seen, ElementsAre(Pair(0, 4), Pair(4, 4), Pair(8, 2)));
}

TEST(Slices, HoldAtLeastOneElement) {
  const auto number = [](int64_t begin, int64_t count) { return at::arange(begin, begin + count); };
  EXPECT_TRUE(at::equal(in_slices(3, int64_t{1} << 40, at::kCPU, number), at::arange(3)));
  EXPECT_TRUE(at::equal(in_slices(3, 7, at::kCPU, number), at::arange(3)));
}

}  // namespace
}  // namespace tessera
