#include <tessera/base/error.h>
#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>

#include "support/naive_exit.h"
#include "support/tensors.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tessera {
namespace {

std::vector<BitsOptions> all_options() {
  std::vector<BitsOptions> all;
  for (const int64_t width : {1, 3, 5, 8, 16})
    for (const auto order : {BitOrder::least_first, BitOrder::most_first})
      for (const bool gray : {false, true}) all.push_back({width, 0.7, order, gray, {}});
  std::vector<int64_t> shuffled(32);
  for (int64_t i = 0; i < 32; ++i) shuffled[i] = (i * 11 + 5) % 32;
  all.push_back({5, 1.0, BitOrder::least_first, false, shuffled});
  all.push_back({5, 1.0, BitOrder::most_first, true, shuffled});
  return all;
}

TEST(Bits, EncodeAndDecodeEverySymbol) {
  for (const auto& options : all_options()) {
    const Bits bits(options);
    const at::Tensor ids = at::arange(bits.symbols(), at::kLong);
    const at::Tensor codes = bits.encode(ids);
    EXPECT_EQ(codes.sizes(), (std::vector<int64_t>{bits.symbols(), options.width}));
    EXPECT_TRUE(at::equal(bits.decode(codes), ids)) << "width " << options.width;
    EXPECT_TRUE((codes.abs() == static_cast<float>(options.size)).all().item<bool>());
  }
}

TEST(Bits, StandInTheOrderAskedFor) {
  const at::Tensor one = at::tensor({1}, at::kLong);
  EXPECT_EQ(test::values(Bits({.width = 3}).encode(one)), (std::vector<double>{1, -1, -1}));
  EXPECT_EQ(test::values(Bits({.width = 3, .order = BitOrder::most_first}).encode(one)),
            (std::vector<double>{-1, -1, 1}));
}

TEST(Bits, OfAGrayCodeDifferInOneBitBetweenNeighbours) {
  const Bits bits({.gray = true});
  const at::Tensor codes = bits.encode(at::arange(256, at::kLong));
  const at::Tensor changed = (codes.narrow(0, 1, 255) != codes.narrow(0, 0, 255)).sum(-1);
  EXPECT_TRUE((changed == 1).all().item<bool>());
}

TEST(Bits, DecodeToTheLargestScore) {
  for (const auto& options : all_options()) {
    const Bits bits(options);
    const at::Tensor x = test::normal({200, options.width}, 1);
    EXPECT_TRUE(at::equal(bits.decode(x), bits.scores(x).argmax(-1))) << "width " << options.width;
  }
}

TEST(Bits, ReadZeroAsAnUnsetBit) {
  EXPECT_EQ(Bits().decode(at::zeros({1, 8})).item<int64_t>(), 0);
  EXPECT_EQ(Bits()
                .decode_and_exit(Trajectory("ot", 10), at::zeros({1, 8}), at::ones({1, 8}))
                .labels.item<int64_t>(),
            0);
}

// Brute force: the orthants are the cells of the table of all 2^n codes.
TEST(Bits, ExitTimesAreThoseOfATableOfAllCodes) {
  for (const auto& options : all_options()) {
    if (options.width > 8) continue;
    const Bits bits(options);
    const at::Tensor labels = test::labels({300}, bits.symbols(), 2);
    const at::Tensor x0 = bits.encode(labels), eps = test::normal({300, options.width}, 3);
    const at::Tensor codes = bits.encode(at::arange(bits.symbols(), at::kLong));
    const auto naive = test::naive_exit(codes, x0, eps, labels);
    for (const char* name : {"ot", "vp-cosine"}) {
      const Trajectory trajectory(name, 1000);
      const auto actual = test::values(bits.exit_time(trajectory, x0, eps, labels).time);
      const auto expected =
          test::values(trajectory.time_of_ratio(at::tensor(naive.ratio, at::kDouble)));
      for (size_t i = 0; i < actual.size(); ++i) {
        if (naive.ratio[i] <= trajectory.final_ratio())
          EXPECT_TRUE(std::isinf(actual[i])) << "path " << i;
        else
          EXPECT_NEAR(actual[i], expected[i], 1e-3) << "path " << i;
      }
    }
  }
}

TEST(Bits, ExitTimesOfPredictionsAreThoseOfTheTable) {
  const Bits bits({.width = 6});
  const at::Tensor x = test::normal({400, 6}, 4), eps = test::normal({400, 6}, 5);
  const Trajectory trajectory("vp-sqrt", 2000);
  const auto both = bits.decode_and_exit(trajectory, x, eps);
  EXPECT_TRUE(at::equal(both.labels, bits.decode(x)));
  EXPECT_FALSE(both.exit.outside.any().item<bool>());
  const EmbeddingTable table(bits.encode(at::arange(64, at::kLong)).to(at::kDouble),
                             {.normalise = Normalise::none});
  const auto expected =
      table.exit_time(trajectory, x.to(at::kDouble), eps.to(at::kDouble), both.labels);
  const at::Tensor finite = at::isfinite(expected.time);
  EXPECT_TRUE(at::equal(finite, at::isfinite(both.exit.time)));
  EXPECT_LT(test::largest_difference(at::where(finite, expected.time, 0.0),
                                     at::where(finite, both.exit.time.to(at::kDouble), 0.0)),
            0.05);
}

TEST(Bits, KeepDoublePrecision) {
  const Bits bits({.width = 6, .gray = true});
  const Trajectory trajectory("ot", 2000);
  const at::Tensor x = test::normal({300, 6}, 8, at::kDouble),
                   eps = test::normal({300, 6}, 9, at::kDouble);
  const auto both = bits.decode_and_exit(trajectory, x, eps);
  EXPECT_TRUE(at::equal(both.labels, bits.decode(x)));
  const EmbeddingTable table(bits.encode(at::arange(64, at::kLong)).to(at::kDouble),
                             {.normalise = Normalise::none});
  const at::Tensor expected = table.exit_time(trajectory, x, eps, both.labels).time;
  EXPECT_TRUE(at::allclose(both.exit.time, expected, 1e-9, 1e-9));
  EXPECT_TRUE(at::equal(bits.exit_time(trajectory, x, eps, both.labels).time, both.exit.time));
  // Too small for float32, and still a set bit.
  const at::Tensor faint = at::full({1, 6}, 1e-60, at::kDouble);
  EXPECT_TRUE(at::equal(bits.decode_and_exit(trajectory, faint, eps.narrow(0, 0, 1)).labels,
                        bits.decode(faint)));
}

TEST(Bits, CountPointsOutsideTheirCell) {
  const Bits bits({.width = 2});
  const at::Tensor x0 = at::tensor({1.0f, 1.0f, -1.0f, 1.0f}).reshape({2, 2});
  const auto exit =
      bits.exit_time(Trajectory("ot", 10), x0, at::ones({2, 2}), at::full({2}, 3, at::kLong));
  EXPECT_EQ(test::values(exit.outside), (std::vector<double>{0, 1}));
  EXPECT_EQ(exit.time[1].item<double>(), 0);
}

TEST(Bits, CrossEntropyIsThatOfTheSoftmaxOverAllCodes) {
  for (const double smoothing : {0.0, 0.1}) {
    const Bits bits({.width = 5, .size = 0.8, .gray = true});
    const at::Tensor x = test::normal({50, 5}, 6, at::kDouble), labels = test::labels({50}, 32, 7);
    const at::Tensor log_p = bits.scores(x).log_softmax(-1);
    const at::Tensor own = log_p.gather(-1, labels.unsqueeze(-1)).squeeze(-1);
    const at::Tensor expected = -((1 - smoothing) * own + smoothing * log_p.mean(-1));
    EXPECT_LT(test::largest_difference(bits.cross_entropy(x, labels, smoothing), expected), 1e-6);
    EXPECT_LT(
        test::gradient_error(
            [&](const at::Tensor& y) { return bits.cross_entropy(y, labels, smoothing).sum(); }, x),
        1e-6);
  }
}

TEST(Bits, RefuseWhatMakesNoSense) {
  EXPECT_THROW(Bits({.width = 0}), UsageError);
  EXPECT_THROW(Bits({.width = 17}), UsageError);
  EXPECT_THROW(Bits({.size = 0}), UsageError);
  EXPECT_THROW(Bits({.width = 1, .permutation = {0}}), UsageError);
  EXPECT_THROW(Bits({.width = 1, .permutation = {0, 0}}), UsageError);
  EXPECT_THROW(Bits({.width = 1, .permutation = {0, 2}}), UsageError);
  EXPECT_THROW(Bits().encode(at::tensor({256}, at::kLong)), Error);
  EXPECT_THROW(Bits().decode(at::ones({2, 7})), Error);
}

}  // namespace
}  // namespace tessera
