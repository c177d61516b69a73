#include <tessera/base/error.h>
#include <tessera/codebook/embedding_table.h>

#include "support/naive_exit.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const EmbeddingTableOptions kPlain{.normalise = Normalise::none};

// The first time on a fine grid at which the path no longer decodes to its label, +inf for never.
std::vector<double> exit_by_walking(const EmbeddingTable& table, const Trajectory& trajectory,
                                    const at::Tensor& x0, const at::Tensor& eps,
                                    const at::Tensor& labels, int steps) {
  std::vector<double> first(labels.numel(), kInfinity);
  for (int i = steps; i >= 0; --i) {
    const double tau = trajectory.horizon() * i / steps;
    const at::Tensor decoded = table.decode(trajectory.u(tau) * x0 + trajectory.v(tau) * eps);
    const auto left = test::values(decoded != labels);
    for (size_t j = 0; j < first.size(); ++j)
      if (left[j] != 0) first[j] = tau;
  }
  return first;
}

TEST(EmbeddingTable, NormalisesRowsToTheSameLength) {
  const at::Tensor weight = test::normal({20, 16}, 1) * 3 + 1;
  const EmbeddingTable layernorm(weight), l2(weight, {.normalise = Normalise::l2});
  for (const auto* table : {&layernorm, &l2})
    EXPECT_LT(test::largest_difference(at::norm(table->codes(), 2, {-1}), at::full({20}, 4.0)),
              1e-5);
  EXPECT_LT(layernorm.codes().mean(-1).abs().max().item<double>(), 1e-6);
  EXPECT_TRUE(at::equal(EmbeddingTable(weight, kPlain).codes(), weight));
}

// Golden values by an independent script in float64.
TEST(EmbeddingTable, KnowsHowFarItsCodesAreApart) {
  const at::Tensor weight =
      at::tensor({1.0, 0.0, 0.0, 1.0, -1.0, 0.5, 0.6, 0.8}, at::kDouble).reshape({4, 2});
  EXPECT_NEAR(EmbeddingTable(weight, {.normalise = Normalise::l2}).spacing().item<double>(),
              0.6763932023, 1e-10);

  const at::Tensor free = test::normal({300, 5}, 7, at::kDouble);
  const EmbeddingTable table(free, {.normalise = Normalise::none, .undecodable = {0, 17}});
  double sum = 0;
  for (int64_t i = 1; i < 300; ++i) {
    double nearest = kInfinity;
    for (int64_t j = 1; j < 300; ++j)
      if (i != 17 && j != 17 && j != i)
        nearest = std::min(nearest, (free[i] - free[j]).square().sum().item<double>());
    if (i != 17) sum += nearest;
  }
  EXPECT_NEAR(table.spacing().item<double>(), sum / 298 / 5, 1e-10);
  EXPECT_THROW(EmbeddingTable(free.narrow(0, 0, 1), kPlain).spacing(), Error);
}

TEST(EmbeddingTable, EncodesAndDecodesEverySymbol) {
  const EmbeddingTable table(test::normal({300, 24}, 2));
  const at::Tensor ids = at::arange(300, at::kLong).reshape({3, 100});
  EXPECT_TRUE(at::equal(table.decode(table.encode(ids)), ids));
}

TEST(EmbeddingTable, DecodesToTheLargestScoreTheLowestOnATie) {
  const EmbeddingTable table(test::normal({700, 24}, 3), {}, test::normal({700}, 4));
  const at::Tensor x = test::normal({500, 24}, 5);
  EXPECT_TRUE(at::equal(table.decode(x), table.scores(x).argmax(-1)));
  const EmbeddingTable twins(at::ones({5, 3}), kPlain);
  EXPECT_EQ(twins.decode(at::ones({1, 3})).item<int64_t>(), 0);
}

TEST(EmbeddingTable, NeverDecodesToUndecodableSymbols) {
  at::Tensor weight = test::normal({40, 8}, 6);
  weight[0].zero_();  // a padding row: not normalised to NaN
  const EmbeddingTable table(weight, {.undecodable = {0, 7, 39}});
  const at::Tensor x = test::normal({2000, 8}, 7);
  const at::Tensor decoded = table.decode(x);
  EXPECT_TRUE(at::equal(decoded, table.scores(x).argmax(-1)));
  for (const int64_t symbol : {0, 7, 39}) {
    EXPECT_FALSE((decoded == symbol).any().item<bool>());
    EXPECT_TRUE((table.scores(x).select(-1, symbol) == -kInfinity).all().item<bool>());
  }
  EXPECT_TRUE(at::equal(table.codes()[0], at::zeros({8})));
  EXPECT_TRUE(at::isfinite(table.codes()).all().item<bool>());
}

// Words of the source language are codes too.
TEST(EmbeddingTable, NormalisesUndecodableSymbolsLikeTheOthers) {
  for (const auto how : {Normalise::l2, Normalise::layernorm}) {
    const EmbeddingTable table(0.1 * test::normal({10, 4}, 39),
                               {.normalise = how, .undecodable = {0, 7}});
    EXPECT_LT(test::largest_difference(at::norm(table.codes(), 2, {-1}), at::full({10}, 2.0)), 1e-5)
        << name_of(how);
  }
}

TEST(EmbeddingTable, LeavesUndecodableSymbolsOutOfTheCompetition) {
  const at::Tensor weight = test::normal({30, 8}, 8);
  const EmbeddingTable all(weight.narrow(0, 5, 25)), some(weight, {.undecodable = {0, 1, 2, 3, 4}});
  const at::Tensor labels = test::labels({200}, 25, 9), eps = test::normal({200, 8}, 10);
  const Trajectory trajectory("vp-sqrt", 100);
  const auto expected = all.exit_time(trajectory, all.encode(labels), eps, labels);
  const auto actual = some.exit_time(trajectory, some.encode(labels + 5), eps, labels + 5);
  EXPECT_TRUE(at::equal(expected.time, actual.time));
}

TEST(EmbeddingTable, GivesUndecodableLabelsNoCell) {
  const EmbeddingTable table(test::normal({10, 4}, 11), {.undecodable = {0}});
  const at::Tensor labels = at::zeros({3}, at::kLong);
  const auto exit =
      table.exit_time(Trajectory("ot", 10), table.encode(labels), test::normal({3, 4}, 12), labels);
  EXPECT_TRUE((exit.time == 0).all().item<bool>());
  EXPECT_FALSE(exit.outside.any().item<bool>());
}

// Compares exit times on every trajectory with a walk of `steps` steps.
void expect_exits_where_walks_leave(const EmbeddingTable& table, const at::Tensor& labels,
                                    const at::Tensor& eps, int steps) {
  const at::Tensor x0 = table.encode(labels);
  for (const auto& [kind, name] : EnumNames<TrajectoryKind>::values) {
    const Trajectory trajectory(name, 100);
    const auto exit = table.exit_time(trajectory, x0, eps, labels);
    EXPECT_FALSE(exit.outside.any().item<bool>()) << name;
    const auto time = test::values(exit.time);
    const auto walked = exit_by_walking(table, trajectory, x0, eps, labels, steps);
    for (size_t i = 0; i < time.size(); ++i) {
      if (std::isinf(time[i]))
        EXPECT_EQ(walked[i], kInfinity) << name << " path " << i;
      else
        EXPECT_NEAR(walked[i], time[i], 1.001 * 100 / steps) << name << " path " << i;
    }
  }
}

TEST(EmbeddingTable, ExitTimesAreWhereAWalkAlongThePathLeavesTheCell) {
  const EmbeddingTable table(test::normal({12, 3}, 13, at::kDouble), {.normalise = Normalise::l2});
  expect_exits_where_walks_leave(table, test::labels({60}, 12, 14),
                                 test::normal({60, 3}, 15, at::kDouble), 2000);
}

// Nearest-neighbour cells: c_j = -|E_j|^2 / 2.
TEST(EmbeddingTable, ExitTimesOfAffineCellsAreWhereAWalkLeavesThem) {
  const at::Tensor weight = test::normal({9, 2}, 16, at::kDouble) * 2;
  const EmbeddingTable table(weight, kPlain, -weight.square().sum(-1) / 2);
  expect_exits_where_walks_leave(table, test::labels({80}, 9, 17),
                                 test::normal({80, 2}, 18, at::kDouble), 4000);
}

TEST(EmbeddingTable, AffineCellsThatHoldNotTheirCodeAreCountedAsOutside) {
  const at::Tensor weight = at::tensor({1.0, 0.0, 0.9, 0.1}, at::kDouble).reshape({2, 2});
  const EmbeddingTable table(weight, kPlain, at::tensor({0.0, 5.0}, at::kDouble));
  const at::Tensor labels = at::tensor({0, 1}, at::kLong);
  for (const char* name : {"ot", "vp-cosine", "ve"}) {
    const auto exit = table.exit_time(Trajectory(name, 10), table.encode(labels),
                                      test::normal({2, 2}, 19, at::kDouble), labels);
    EXPECT_EQ(test::values(exit.outside), (std::vector<double>{1, 0})) << name;
    EXPECT_EQ(exit.time[0].item<double>(), 0) << name;
  }
}

TEST(EmbeddingTable, DecodeAndExitAgreesWithBothInTurn) {
  const Trajectory trajectory("vp-sqrt", 2000);
  for (const bool affine : {false, true}) {
    const EmbeddingTable table(test::normal({900, 32}, 20), {.undecodable = {0, 3}},
                               affine ? test::normal({900}, 21) : at::Tensor{});
    const at::Tensor x = test::normal({4, 50, 32}, 22), eps = test::normal({4, 50, 32}, 23);
    const auto both = table.decode_and_exit(trajectory, x, eps);
    EXPECT_TRUE(at::equal(both.labels, table.decode(x)));
    EXPECT_FALSE(both.exit.outside.any().item<bool>());
    const auto alone = table.exit_time(trajectory, x, eps, both.labels);
    const at::Tensor finite = at::isfinite(alone.time);
    EXPECT_TRUE(at::equal(finite, at::isfinite(both.exit.time)));
    EXPECT_LT(test::largest_difference(at::where(finite, alone.time, 0.0),
                                       at::where(finite, both.exit.time, 0.0)),
              0.5);
  }
}

TEST(EmbeddingTable, CrossEntropyIsThatOfTheScores) {
  const EmbeddingTable table(test::normal({20, 6}, 24), {.undecodable = {0}},
                             test::normal({20}, 25));
  const at::Tensor x = test::normal({7, 6}, 26), labels = test::labels({7}, 19, 27) + 1;
  const at::Tensor log_p = table.scores(x).log_softmax(-1).narrow(-1, 1, 19);
  const at::Tensor own = log_p.gather(-1, (labels - 1).unsqueeze(-1)).squeeze(-1);
  EXPECT_LT(test::largest_difference(table.cross_entropy(x, labels), -own), 1e-5);
  EXPECT_LT(test::largest_difference(table.cross_entropy(x, labels, 0.1),
                                     -(0.9 * own + 0.1 * log_p.mean(-1))),
            1e-5);
}

TEST(EmbeddingTable, GradientsReachTheWeights) {
  const at::Tensor weight = test::normal({6, 4}, 28, at::kDouble);
  const at::Tensor labels = test::labels({5}, 6, 29), x = test::normal({5, 4}, 30, at::kDouble);
  for (const auto how : {Normalise::none, Normalise::l2, Normalise::layernorm}) {
    const auto loss = [&](const at::Tensor& w) {
      const EmbeddingTable table(w, {.normalise = how, .undecodable = {5}});
      return (table.encode(labels.clamp_max(4)) - x).square().sum() +
             table.cross_entropy(x, labels.clamp_max(4), 0.1).sum();
    };
    EXPECT_LT(test::gradient_error(loss, weight), 1e-6) << name_of(how);
  }
}

TEST(EmbeddingTable, RefreshFollowsTheWeights) {
  at::Tensor weight = test::normal({5, 4}, 31);
  EmbeddingTable table(weight);
  const at::Tensor before = table.codes().clone();
  weight.copy_(test::normal({5, 4}, 32));
  EXPECT_TRUE(at::equal(table.codes(), before));
  table.refresh();
  EXPECT_TRUE(at::equal(table.codes(), EmbeddingTable(weight).codes()));
}

TEST(EmbeddingTable, RefreshFindsCodesThatHaveLostTheirLength) {
  for (const auto how : {Normalise::none, Normalise::l2, Normalise::layernorm}) {
    at::Tensor weight = test::normal({5, 4}, 36);
    EmbeddingTable table(weight, {.normalise = how, .undecodable = {0}});
    weight[3].fill_(how == Normalise::layernorm ? 0.3 : 0.0);
    EXPECT_THAT([&] { table.refresh(); },
                ThrowsMessage<Error>(HasSubstr("the code of symbol 3 has length")))
        << name_of(how);
  }
}

TEST(EmbeddingTable, GivesUndecodableLabelsNoCrossEntropy) {
  const EmbeddingTable table(test::normal({10, 4}, 37), {.undecodable = {0}});
  const at::Tensor loss =
      table.cross_entropy(test::normal({2, 4}, 38), at::tensor({0, 1}, at::kLong), 0.1);
  EXPECT_EQ(loss[0].item<double>(), 0);
  EXPECT_GT(loss[1].item<double>(), 0);
}

TEST(EmbeddingTable, SaysWhatIsWrongWithItsArguments) {
  const at::Tensor weight = test::normal({5, 4}, 33);
  EXPECT_THAT([&] { EmbeddingTable(at::ones({5})); },
              ThrowsMessage<Error>(HasSubstr("weight must have shape [K, d]")));
  EXPECT_THAT(
      [&] {
        EmbeddingTable(at::ones({5, 4}, at::kLong));
      },
      ThrowsMessage<Error>(HasSubstr("weight must be float32 or float64")));
  EXPECT_THAT(
      [&] {
        EmbeddingTable(at::full({5, 4}, std::nan("")));
      },
      ThrowsMessage<Error>(HasSubstr("weight contains NaN")));
  EXPECT_THAT(
      [&] {
        EmbeddingTable(at::cat({weight, at::zeros({1, 4})}), {.normalise = Normalise::l2});
      },
      ThrowsMessage<Error>(HasSubstr("the code of symbol 5 has length")));
  EXPECT_THAT([&] { EmbeddingTable(weight, {.undecodable = {9}}); },
              ThrowsMessage<Error>(HasSubstr("undecodable symbol 9")));
  EXPECT_THAT([&] { EmbeddingTable(weight, {}, at::ones({4})); },
              ThrowsMessage<Error>(HasSubstr("bias must have shape [5]")));

  const EmbeddingTable table(weight);
  const Trajectory ot("ot", 10);
  const at::Tensor x = test::normal({3, 4}, 34), labels = at::zeros({3}, at::kLong);
  EXPECT_THAT([&] { table.encode(at::tensor({5}, at::kLong)); },
              ThrowsMessage<Error>(HasSubstr("labels must be in [0, 5), found 5")));
  EXPECT_THAT([&] { table.encode(at::zeros({2}, at::kInt)); },
              ThrowsMessage<Error>(HasSubstr("labels must be int64")));
  EXPECT_THAT(
      [&] {
        table.decode(test::normal({3, 5}, 35));
      },
      ThrowsMessage<Error>(HasSubstr("x must have shape [..., 4], got [3, 5]")));
  EXPECT_THAT([&] { table.exit_time(ot, x, x.narrow(0, 0, 2), labels); },
              ThrowsMessage<Error>(HasSubstr("eps must have shape [3, 4], got [2, 4]")));
  EXPECT_THAT([&] { table.exit_time(ot, x, x, at::zeros({2}, at::kLong)); },
              ThrowsMessage<Error>(HasSubstr("labels must have shape [3], got [2]")));
  EXPECT_THAT([&] { table.exit_time(ot, x, x.to(at::kDouble), labels); },
              ThrowsMessage<Error>(HasSubstr("eps must be Float")));
  EXPECT_THAT(
      [&] {
        table.exit_time(ot, x, at::full({3, 4}, kInfinity), labels);
      },
      ThrowsMessage<Error>(HasSubstr("eps contains NaN or infinite")));
  EXPECT_THAT([&] { table.cross_entropy(x, labels, 1.0); },
              ThrowsMessage<Error>(HasSubstr("label_smoothing")));
  EXPECT_THAT([&] { table.decode(at::Tensor{}); }, ThrowsMessage<Error>(HasSubstr("undefined")));
}

}  // namespace
}  // namespace tessera
