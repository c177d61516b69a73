#include <tessera/base/error.h>
#include <tessera/tensor/random.h>

#include "support/tensors.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <set>

namespace tessera {
namespace {

const StreamId kStream{7, Purpose::test, 3};

TEST(Philox, MatchesThePublishedAnswers) {
  // Known answers of the generator's authors (Random123, philox4x32-10).
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomNormal, HasTheMomentsOfANormal) {
  const at::Tensor x = random_normal(kStream, at::arange(100, at::kLong), {10000}).to(at::kDouble);
  EXPECT_NEAR(x.mean().item<double>(), 0, 4e-3);
  EXPECT_NEAR(x.square().mean().item<double>(), 1, 6e-3);
  EXPECT_NEAR(x.pow(3).mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(x.pow(4).mean().item<double>(), 3, 0.04);
  EXPECT_NEAR((x.abs() > 1.959964).to(at::kDouble).mean().item<double>(), 0.05, 1e-3);
}

TEST(RandomNormal, OfASampleDoesNotDependOnItsNeighbours) {
  const at::Tensor all = random_normal(kStream, at::arange(10, at::kLong), {3, 5});
  const at::Tensor some = random_normal(kStream, at::tensor({7, 2}, at::kLong), {3, 5});
  EXPECT_TRUE(at::equal(some[0], all[7]));
  EXPECT_TRUE(at::equal(some[1], all[2]));
  // Nor on the shape of a row, nor on how much of it is drawn.
  EXPECT_TRUE(at::equal(random_normal(kStream, at::arange(10, at::kLong), {7}),
                        all.reshape({10, 15}).narrow(1, 0, 7)));
}

TEST(RandomNormal, DiffersBetweenSeedPurposeStepAndSample) {
  const at::Tensor zero = at::zeros({1}, at::kLong);
  std::vector<at::Tensor> streams{
      random_normal({1, Purpose::test, 0}, zero, {8}),
      random_normal({2, Purpose::test, 0}, zero, {8}),
      random_normal({uint64_t{1} << 32 | 1, Purpose::test, 0}, zero, {8}),
      random_normal({1, Purpose::sampling, 0}, zero, {8}),
      random_normal({1, Purpose::test, 1}, zero, {8}),
      random_normal({1, Purpose::test, 0}, zero + 1, {8}),
      random_normal({1, Purpose::test, 0}, zero + (int64_t{1} << 32), {8})};
  for (size_t i = 0; i < streams.size(); ++i)
    for (size_t j = i + 1; j < streams.size(); ++j)
      EXPECT_GT(test::largest_difference(streams[i], streams[j]), 0.1) << i << " and " << j;
}

TEST(RandomNormal, DoesNotDependOnTheNumberOfThreads) {
  const int threads = at::get_num_threads();
  const at::Tensor samples = at::arange(50, at::kLong);
  at::set_num_threads(1);
  const at::Tensor one = random_normal(kStream, samples, {1001});
  at::set_num_threads(2);
  const at::Tensor two = random_normal(kStream, samples, {1001});
  at::set_num_threads(threads);
  EXPECT_TRUE(at::equal(one, two));
}

TEST(Random, RowsMayHaveSeedsOfTheirOwn) {
  const at::Tensor samples = at::full({3}, 9, at::kLong);
  const uint64_t seeds[] = {kStream.seed, uint64_t{1} << 63 | 3, 8};
  const at::Tensor own = at::tensor({static_cast<int64_t>(seeds[0]), static_cast<int64_t>(seeds[1]),
                                     static_cast<int64_t>(seeds[2])},
                                    at::kLong);
  const at::Tensor normal = random_normal(kStream, samples, {6}, 1.0, own);
  const at::Tensor integers = random_integers(kStream, samples, 0, 1 << 20, own);
  for (int64_t row = 0; row < 3; ++row) {
    const StreamId id{seeds[row], kStream.purpose, kStream.step};
    const at::Tensor one = samples.narrow(0, row, 1);
    EXPECT_TRUE(at::equal(normal[row], random_normal(id, one, {6})[0]));
    EXPECT_TRUE(at::equal(integers[row], random_integers(id, one, 0, 1 << 20)[0]));
  }
  EXPECT_FALSE(at::equal(normal[0], normal[1]));
  EXPECT_THROW(random_normal(kStream, samples, {6}, 1.0, own.narrow(0, 0, 2)), Error);
}

TEST(RandomUniform, IsAFunctionOfStreamAndPosition) {
  const StreamId id{.seed = 3, .purpose = Purpose::test, .step = 5};
  const at::Tensor numbers = random_uniform(id, at::tensor({7, 8}, at::kLong), {5});
  EXPECT_EQ(numbers.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(random_uniform(id, at::tensor({8}, at::kLong), {5})[0], numbers[1]));
  // Two words of the raw generator make a number.
  const auto words = philox({1, 7, 5, static_cast<uint32_t>(Purpose::test)}, {3, 0});
  const auto number = [](uint64_t high, uint64_t low) {
    return std::ldexp(static_cast<double>((high << 32 | low) >> 11), -53);
  };
  EXPECT_EQ(numbers[0][2].item<double>(), number(words[0], words[1]));
  EXPECT_EQ(numbers[0][3].item<double>(), number(words[2], words[3]));
}

TEST(RandomUniform, CoversItsRangeEvenly) {
  const at::Tensor numbers =
      random_uniform({.seed = 1}, at::arange(100, at::kLong), {1000}).flatten();
  EXPECT_GE(numbers.min().item<double>(), 0);
  EXPECT_LT(numbers.max().item<double>(), 1);
  EXPECT_NEAR(numbers.mean().item<double>(), 0.5, 0.005);
  EXPECT_NEAR(numbers.square().mean().item<double>(), 1.0 / 3, 0.005);
}

TEST(RandomIntegers, CoverTheirRangeEvenly) {
  const at::Tensor x = random_integers(kStream, at::arange(60000, at::kLong), 1, 6);
  const at::Tensor counts = x.bincount({}, 7);
  EXPECT_EQ(counts[0].item<int64_t>(), 0);
  for (int face = 1; face <= 6; ++face) EXPECT_NEAR(counts[face].item<double>(), 10000, 400);
  EXPECT_TRUE((random_integers(kStream, at::arange(5, at::kLong), 3, 3) == 3).all().item<bool>());
}

TEST(RandomStream, IsUnbiasedBelowABound) {
  RandomStream stream({1, Purpose::test, 0});
  std::vector<int> counts(5);
  for (int i = 0; i < 50000; ++i) ++counts.at(stream.below(5));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
  for (int i = 0; i < 1000; ++i) {
    const double u = stream.uniform();
    EXPECT_TRUE(u >= 0 && u < 1);
    EXPECT_TRUE(std::isfinite(stream.normal()));
  }
}

TEST(Random, RefusesWrongArguments) {
  EXPECT_THROW(random_normal(kStream, at::arange(3, at::kInt), {2}), Error);
  EXPECT_THROW(random_normal(kStream, at::zeros({2, 2}, at::kLong), {2}), Error);
  EXPECT_THROW(random_normal({1, Purpose::test, uint64_t{1} << 32}, at::arange(3), {2}), Error);
  EXPECT_THROW(random_normal(kStream, at::full({1}, -1, at::kLong), {2}), Error);
  EXPECT_THROW(random_normal(kStream, at::Tensor{}, {2}), Error);
  EXPECT_THROW(random_normal(kStream, at::arange(3, at::kLong), {2}, std::nan("")), Error);
  EXPECT_THROW(random_integers(kStream, at::arange(3, at::kLong), 2, 1), Error);
  EXPECT_THROW(RandomStream({1, Purpose::test, 0}).below(0), Error);
}

TEST(Random, OfNothingIsNothing) {
  EXPECT_EQ(random_normal(kStream, at::zeros({0}, at::kLong), {4}).sizes(),
            (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(random_normal(kStream, at::zeros({3}, at::kLong), {0}).numel(), 0);
}

}  // namespace
}  // namespace tessera
