#include "nn/key_cache.h"

#include "support/tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

using test::normal;

Memory position(int64_t rows, uint64_t seed) {
  return {normal({rows, 2, 1, 4}, seed), normal({rows, 2, 1, 4}, seed + 1)};
}

TEST(KeyCache, KeepsTheLayersApartAndGivesAllPositions) {
  KeyCache cache({.rows = 3, .layers = 2, .heads = 2, .width = 8, .room = 5}, at::kFloat);
  const Memory first[] = {position(3, 1), position(3, 3)};
  const Memory second[] = {position(3, 5), position(3, 7)};
  for (int64_t layer = 0; layer < 2; ++layer) cache.append(layer, first[layer]);
  cache.advance();
  for (int64_t layer = 0; layer < 2; ++layer) {
    const Memory all = cache.append(layer, second[layer]);
    EXPECT_TRUE(at::equal(all.keys, at::cat({first[layer].keys, second[layer].keys}, 2)));
    EXPECT_TRUE(at::equal(all.values, at::cat({first[layer].values, second[layer].values}, 2)));
  }
  EXPECT_EQ(cache.length(), 1);
}

TEST(KeyCache, RowsGoOnFromOthers) {
  KeyCache cache({.rows = 3, .layers = 1, .heads = 2, .width = 8, .room = 5}, at::kFloat);
  const Memory first = position(3, 1);
  cache.append(0, first);
  cache.advance();
  const at::Tensor rows = at::tensor(std::vector<int64_t>{2, 0});  // fewer than there were
  cache.select(rows);
  const Memory second = position(2, 5);
  EXPECT_TRUE(at::equal(cache.append(0, second).keys,
                        at::cat({first.keys.index_select(0, rows), second.keys}, 2)));
}

TEST(KeyCache, RowsMayChangeBeforeTheFirstPosition) {
  KeyCache cache({.rows = 1, .layers = 1, .heads = 2, .width = 8, .room = 5}, at::kFloat);
  cache.select(at::zeros({4}, at::kLong));
  const Memory first = position(4, 1);
  EXPECT_TRUE(at::equal(cache.append(0, first).keys, first.keys));
}

}  // namespace
}  // namespace tessera::nn
