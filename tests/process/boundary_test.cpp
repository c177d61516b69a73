#include <tessera/base/error.h>
#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/process/boundary.h>

#include "process/listing.h"
#include "support/naive_exit.h"
#include "support/tensors.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

// The golden example: four codes in the plane, not normalised, and four paths.
struct Golden {
  at::Tensor codes =
      at::tensor({1.0, 0.0, 0.0, 1.0, -1.0, 0.5, 0.6, 0.8}, at::kDouble).reshape({4, 2});
  at::Tensor labels = at::tensor({0, 0, 1, 3}, at::kLong);
  at::Tensor eps =
      at::tensor({0.2, 1.5, 1.0, -2.0, -0.7, -0.3, 2.0, -1.0}, at::kDouble).reshape({4, 2});
  EmbeddingTable table{codes, {.normalise = Normalise::none}};
  at::Tensor x0 = table.encode(labels);
};

TEST(StoppingTime, MatchesTheGoldenPathsOfTheSquareRootSchedule) {
  const Golden golden;
  const Trajectory trajectory("vp-sqrt", 2000);
  const auto stop = stopping_time(trajectory, golden.table, golden.x0, golden.eps, golden.labels);
  const auto t0 = test::values(stop.t0);
  EXPECT_NEAR(t0[0], 29.566635, 1e-6);
  EXPECT_EQ(t0[1], 2000);
  EXPECT_NEAR(t0[2], 139.719624, 1e-6);
  EXPECT_NEAR(t0[3], 9.116179, 1e-6);
  EXPECT_EQ(test::values(stop.no_exit), (std::vector<double>{0, 1, 0, 0}));
  EXPECT_FALSE(stop.outside.any().item<bool>());

  const at::Tensor index = listing::index(trajectory, stop.t0);
  EXPECT_EQ(index[0].item<double>(), 29);
  EXPECT_EQ(index[2].item<double>(), 139);
  EXPECT_EQ(index[3].item<double>(), 9);
}

TEST(StoppingTime, MatchesTheGoldenPathsOfOptimalTransport) {
  const Golden golden;
  const auto t0 = test::values(
      stopping_time(Trajectory("ot", 2000), golden.table, golden.x0, golden.eps, golden.labels).t0);
  EXPECT_NEAR(t0[0], 526.316, 1e-3);
  EXPECT_EQ(t0[1], 2000);
  EXPECT_NEAR(t0[2], 740.741, 1e-3);
  EXPECT_NEAR(t0[3], 400, 1e-9);
}

TEST(StoppingTime, FollowsTheNoExitPolicy) {
  const Golden golden;
  const auto stop = stopping_time(Trajectory("ot", 100), golden.table, golden.x0, golden.eps,
                                  golden.labels, NoExit::zero);
  EXPECT_EQ(stop.t0[1].item<double>(), 0);
  EXPECT_TRUE(stop.no_exit[1].item<bool>());
}

TEST(StoppingTime, MatchesTheGoldenListing) {
  // The listing counts from 0 and truncates. Its row i is our time i + 1.
  const at::Tensor index = at::full({4}, 29.0);
  const at::Tensor t = at::tensor({1.0f, 500.0f, 1000.0f, 2000.0f});
  EXPECT_EQ(test::values(listing::tau(t, index, 1.0, 2000) - 1),
            (std::vector<double>{28, 520, 1013, 1999}));
  EXPECT_EQ(test::values(listing::tau(t, index, 0.5, 2000) - 1),
            (std::vector<double>{14, 509, 1006, 1999}));
}

TEST(StoppingTime, OfAPointOutsideItsCellIsZeroAndCounted) {
  // A short code in the cell of a longer one, so its path starts outside its own cell.
  const EmbeddingTable table(at::tensor({1.0, 0.0, 5.0, 0.5}, at::kDouble).reshape({2, 2}),
                             {.normalise = Normalise::none});
  const at::Tensor labels = at::tensor({0, 1}, at::kLong);
  const auto stop = stopping_time(Trajectory("ot", 10), table, table.encode(labels),
                                  test::normal({2, 2}, 1, at::kDouble), labels);
  EXPECT_EQ(test::values(stop.outside), (std::vector<double>{1, 0}));
  EXPECT_EQ(stop.t0[0].item<double>(), 0);
}

TEST(StoppingTime, IgnoresDuplicateCodesThatNoiseCannotTellApart) {
  const at::Tensor codes = at::tensor({1.0, 0.0, 1.0, 0.0, 0.0, 1.0}, at::kDouble).reshape({3, 2});
  const EmbeddingTable table(codes, {.normalise = Normalise::none});
  const at::Tensor labels = at::tensor({0, 1}, at::kLong);
  const at::Tensor eps = at::tensor({0.0, 1.0, 0.0, 1.0}, at::kDouble).reshape({2, 2});
  const auto stop = stopping_time(Trajectory("ot", 10), table, table.encode(labels), eps, labels);
  // Only the third code matters: a = 1, b = 1, so the exit is half-way.
  EXPECT_NEAR(stop.t0[0].item<double>(), 5, 1e-12);
  EXPECT_NEAR(stop.t0[1].item<double>(), 5, 1e-12);
}

TEST(StoppingTime, IsZeroWhereNoiseBreaksATieAtOnce) {
  const EmbeddingTable table(at::eye(2, at::kDouble), {.normalise = Normalise::none});
  const at::Tensor x0 = at::tensor({1.0, 1.0, 1.0, 1.0}, at::kDouble).reshape({2, 2});
  const at::Tensor eps = at::tensor({0.0, 1.0, 1.0, 0.0}, at::kDouble).reshape({2, 2});
  const auto stop = stopping_time(Trajectory("ot", 10), table, x0, eps, at::zeros({2}, at::kLong));
  EXPECT_EQ(stop.t0[0].item<double>(), 0);
  EXPECT_TRUE(stop.no_exit[1].item<bool>());
  EXPECT_FALSE(stop.outside.any().item<bool>());
}

TEST(StoppingTime, OfASingleSymbolNeverExits) {
  const EmbeddingTable table(at::ones({1, 4}), {.normalise = Normalise::none});
  const at::Tensor labels = at::zeros({3}, at::kLong);
  const auto stop = stopping_time(Trajectory("vp-cosine", 50), table, table.encode(labels),
                                  test::normal({3, 4}, 2), labels);
  EXPECT_TRUE(stop.no_exit.all().item<bool>());
  EXPECT_TRUE((stop.t0 == 50).all().item<bool>());
}

TEST(StoppingTime, OfNothingIsNothing) {
  const EmbeddingTable table(test::unit_codes(5, 3, 1), {.normalise = Normalise::none});
  const auto stop = stopping_time(Trajectory("ot", 10), table, at::zeros({2, 0, 3}),
                                  at::zeros({2, 0, 3}), at::zeros({2, 0}, at::kLong));
  EXPECT_EQ(stop.t0.sizes(), (std::vector<int64_t>{2, 0}));
}

TEST(StoppingTime, CarriesNoGradient) {
  at::Tensor weight = test::unit_codes(6, 4, 1).requires_grad_();
  const EmbeddingTable table(weight);
  const at::Tensor labels = test::labels({5}, 6, 2);
  const auto stop = stopping_time(Trajectory("ot", 10), table, table.encode(labels),
                                  test::normal({5, 4}, 3), labels);
  EXPECT_FALSE(stop.t0.requires_grad());
}

// Mean t0/T over random codebooks of 1,500 codes in 128 dimensions, vp-sqrt with T = 2000.
TEST(StoppingTime, MatchesTheGoldenMeanOverRandomCodebooks) {
  const Trajectory trajectory("vp-sqrt", 2000);
  for (const auto& [factor, golden, tolerance] :
       {std::tuple{1.0, 0.833, 0.006}, std::tuple{4.0, 0.219, 0.015}}) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const EmbeddingTable table(test::unit_codes(1500, 128, seed), {.normalise = Normalise::none});
      const at::Tensor labels = test::labels({1000}, 1500, seed);
      const auto stop = stopping_time(trajectory, table, table.encode(labels),
                                      factor * test::normal({1000, 128}, 100 + seed), labels);
      sum += stop.t0.mean().item<double>() / 2000;
    }
    EXPECT_NEAR(sum / 4, golden, tolerance) << "noise factor " << factor;
  }
}

// Exact distribution from Phi(rho)^8: bits of size 1, cosine, T = 1000.
TEST(StoppingTime, MatchesTheExactDistributionOfBits) {
  const Bits bits;
  const at::Tensor labels = test::labels({400000}, 256, 5);
  const auto stop = stopping_time(Trajectory("vp-cosine", 1000), bits, bits.encode(labels),
                                  test::normal({400000, 8}, 6), labels);
  EXPECT_NEAR(stop.t0.mean().item<double>(), 421.9, 1.0);
  EXPECT_NEAR(stop.t0.quantile(0.1).item<double>(), 263.3, 1.0);
  EXPECT_NEAR(stop.t0.quantile(0.5).item<double>(), 393.3, 1.0);
  EXPECT_NEAR(stop.t0.quantile(0.9).item<double>(), 619.4, 2.0);
  EXPECT_NEAR(stop.no_exit.to(at::kDouble).mean().item<double>(), 1.0 / 256, 3e-4);
}

}  // namespace
}  // namespace tessera
