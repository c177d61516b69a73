#include "image_metric/nearest.h"

#include "support/complaint.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::image_metric {
namespace {

using testing::HasSubstr;

TEST(NearestSearch, FindsWhatComparingAllPairsFinds) {
  const at::Tensor queries = test::normal({1500, 6}, 1), set = test::normal({3000, 6}, 2);
  NearestSearch search(queries);
  for (const at::Tensor& part : set.split(1700)) search.add(part);
  EXPECT_EQ(search.count(), 3000);
  const auto [distance, index] = at::cdist(queries.to(at::kDouble), set.to(at::kDouble), 2.0,
                                           /*compute_mode=*/2)
                                     .min(1);
  EXPECT_TRUE(at::equal(search.index(), index));
  EXPECT_LT(test::largest_difference(search.distance(), distance), 1e-12);
}

TEST(NearestSearch, FindsCopiesAmongPixels) {
  const at::Tensor set = test::labels({2100, 3, 16, 16}, 256, 3).to(at::kByte);
  const at::Tensor wanted = at::tensor({7, 1023, 1024, 2099}, at::kLong);
  at::Tensor queries = set.index_select(0, wanted).clone();
  queries[3][0][0][0] = 255 - queries[3][0][0][0].item<int64_t>();  // one pixel changed
  NearestSearch search(queries);
  search.add(set);
  EXPECT_TRUE(at::equal(search.index(), wanted));
  const auto distances = test::values(search.distance());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(distances[i], 0);
  const double change =
      std::abs(queries[3][0][0][0].item<double>() - set[2099][0][0][0].item<double>());
  EXPECT_EQ(distances[3], change);
}

TEST(NearestSearch, TakesTheFirstOfEquals) {
  NearestSearch search(at::zeros({1, 2}));
  search.add(at::ones({3, 2}));
  search.add(at::ones({3, 2}));
  EXPECT_EQ(search.index().item<int64_t>(), 0);
}

TEST(NearestSearch, OfAnEmptySetHasNothingNear) {
  NearestSearch search(at::zeros({2, 3}));
  search.add(at::zeros({0, 3}));
  EXPECT_EQ(search.index()[0].item<int64_t>(), -1);
  EXPECT_TRUE(std::isinf(search.distance()[1].item<double>()));
}

TEST(NearestSearch, RefusesElementsOfAnotherSize) {
  NearestSearch search(at::zeros({2, 3}));
  EXPECT_THAT(test::complaint([&] {
                search.add(at::zeros({4, 5}));
              }),
              HasSubstr("have 5 numbers each and the queries 3"));
}

}  // namespace
}  // namespace tessera::image_metric
