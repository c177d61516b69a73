#include <tessera/symbols/symbol_sampler.h>

#include "symbols/toy_network.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tessera {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

at::Tensor samples(int64_t count, int64_t first = 0) {
  return at::arange(first, first + count, at::kLong);
}

SymbolNetwork network_of(
    const std::function<at::Tensor(const at::Tensor& x, const at::Tensor& t)>& logits) {
  return {logits, [](const at::Tensor& estimate) { return estimate; }};
}

SymbolNetwork toy_network() {
  return network_of(test::toy_logits);
}

SymbolProcess masks(SurvivalKind kind = SurvivalKind::log_linear) {
  return SymbolProcess(3, {.survival = {.kind = kind}});
}

SymbolProcess uniform(Reverse reverse = Reverse::plug_in, int64_t symbols = 3) {
  return SymbolProcess(symbols, {.noise = SymbolNoise::uniform, .reverse = reverse});
}

// Every way of sampling, with masks and without.
struct Way {
  SymbolProcess process;
  SymbolSampling sampling;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const double temperature : {1.0, 0.5, 0.0}) {
    all.push_back({masks(), {.temperature = temperature}});
    all.push_back({masks(), {.order = UncoverOrder::confidence, .temperature = temperature}});
    all.push_back({uniform(), {.temperature = temperature}});
    all.push_back({uniform(Reverse::mean), {.temperature = temperature}});
  }
  all.push_back({masks(), {.predictor = Predictor::euler}});
  all.push_back({masks(), {.correctors = 2, .corrector_from = 0.5}});
  all.push_back({masks(), {.likeliest_last = true}});
  all.push_back({uniform(), {.predictor = Predictor::euler, .correctors = 1, .corrector_from = 1}});
  all.push_back({uniform(), {.predictor = Predictor::tau_leaping}});
  return all;
}

TEST(SymbolSampler, LeavesSymbolsOnly) {
  for (const Way& way : ways())
    for (const int64_t steps : {1, 2, 7}) {
      const SymbolSampler sampler(way.process, {.steps = steps, .sampling = way.sampling});
      const SymbolSample sample = sampler.run(toy_network(), samples(20), {2});
      EXPECT_GE(sample.x.min().item<int64_t>(), 0);
      EXPECT_LT(sample.x.max().item<int64_t>(), 3);
      EXPECT_LE(sample.calls, sampler.calls());
      EXPECT_GE(sample.calls, 1);
      EXPECT_LE(sample.log_probabilities.max().item<float>(), 1e-6);
      EXPECT_LT(sample.log_probabilities.min().item<float>(), 0);
    }
}

// Added up, jumps would pile up at the first and the last symbol.
TEST(SymbolSampler, LeapsBetweenSymbolsWithoutAnOrderFavourNone) {
  const SymbolProcess process(5, {.noise = SymbolNoise::uniform, .reverse = Reverse::mean});
  const SymbolNetwork any = network_of([](const at::Tensor& x, const at::Tensor&) {
    return at::zeros({x.size(0), x.size(1), 5}, at::kDouble);
  });
  SymbolSamplerOptions options{.steps = 2, .sampling = {.predictor = Predictor::tau_leaping}};
  options.sampling.last_time = 0.5;
  const at::Tensor x = SymbolSampler(process, options).run(any, samples(4000), {2}).x;
  const at::Tensor shares = at::bincount(x.flatten(), {}, 5).to(at::kDouble) / 8000;
  EXPECT_LT((shares - 0.2).abs().max().item<double>(), 0.02) << shares;
}

TEST(SymbolSampler, KeepsSymbolsThatAreGiven) {
  const at::Tensor given = at::tensor({-1, 2, 1, -1}, at::kLong).view({2, 2});
  for (const Way& way : ways()) {
    const SymbolSampler sampler(way.process, {.steps = 5, .sampling = way.sampling});
    const at::Tensor x = sampler.run(toy_network(), samples(2), {2}, given).x;
    EXPECT_EQ(x[0][1].item<int64_t>(), 2);
    EXPECT_EQ(x[1][0].item<int64_t>(), 1);
  }
}

TEST(SymbolSampler, DrawsAreThoseOfTheSampleWhereverItStands) {
  for (const Way& way : ways()) {
    const SymbolSampler sampler(way.process, {.steps = 5, .sampling = way.sampling, .seed = 7});
    const at::Tensor all = sampler.run(toy_network(), samples(10), {2}).x;
    EXPECT_TRUE(at::equal(sampler.run(toy_network(), samples(3, 4), {2}).x, all.narrow(0, 4, 3)));
    const at::Tensor seeds = at::full({10}, 7, at::kLong);
    const SymbolSampler other(way.process, {.steps = 5, .sampling = way.sampling, .seed = 8});
    EXPECT_TRUE(at::equal(other.run(toy_network(), samples(10), {2}, {}, seeds).x, all));
  }
}

TEST(SymbolSampler, PaddingChangesNothing) {
  // Positions do not see each other here: what differs could only come from the sampler.
  const SymbolNetwork apart = network_of([](const at::Tensor& x, const at::Tensor&) {
    const at::Tensor place = at::arange(x.size(1), at::kDouble).view({1, -1, 1});
    return at::sin(place + at::arange(3, at::kDouble) + 0.5 * x.unsqueeze(-1));
  });
  for (const Way& way : ways()) {
    if (way.sampling.predictor == Predictor::tau_leaping) continue;  // for images, without padding
    const SymbolSampler sampler(way.process, {.steps = 6, .sampling = way.sampling});
    const at::Tensor present =
        at::arange(5).lt(at::tensor({3, 5}, at::kLong).unsqueeze(1));  // [2, 5]
    const at::Tensor padded = sampler.run(apart, samples(2), {5}, {}, {}, present).x;
    EXPECT_EQ(padded[0].slice(0, 3).abs().sum().item<int64_t>(), 0);
    const at::Tensor alone = sampler.run(apart, samples(1), {3}).x;
    EXPECT_TRUE(at::equal(padded[0].slice(0, 0, 3), alone[0]));
  }
}

TEST(SymbolSampler, MasksAreUncoveredOnceAndWithoutNeedlessCalls) {
  int64_t calls = 0;
  const SymbolNetwork counting = network_of([&](const at::Tensor& x, const at::Tensor& t) {
    ++calls;
    EXPECT_TRUE(x.eq(3).any().item<bool>()) << "a call where nothing is masked";
    return test::toy_logits(x, t);
  });
  at::Tensor before;
  const auto watch = [&](const SymbolStep& step) {
    if (before.defined()) {
      EXPECT_TRUE(before.eq(3).logical_or(before.eq(step.x)).all().item<bool>());
    }
    before = step.x;
    return true;
  };
  const SymbolSampler sampler(masks(), {.steps = 1000});
  const SymbolSample sample = sampler.run(counting, samples(4), {2}, {}, {}, {}, watch);
  EXPECT_EQ(sample.calls, calls);
  EXPECT_LE(calls, 8) << "eight masks are uncovered in eight steps at most";
}

TEST(SymbolSampler, AsksForLogitsWhereTheyAreUsed) {
  int64_t rows = 0;
  const SymbolNetwork counting{test::toy_logits, [&](const at::Tensor& estimate) {
                                 rows += estimate.size(0);
                                 return estimate;
                               }};
  SymbolSampler(masks(), {.steps = 50}).run(counting, samples(30), {2});
  EXPECT_EQ(rows, 60);
}

TEST(SymbolSampler, ConfidenceUncoversAsManyAsItsScheduleSays) {
  const SymbolNetwork flat = network_of([](const at::Tensor& x, const at::Tensor&) {
    return at::sin(at::arange(x.numel() * 3, at::kDouble)).view({x.size(0), x.size(1), 3});
  });
  std::vector<int64_t> masked;
  const auto watch = [&](const SymbolStep& step) {
    masked.push_back(step.x.eq(3).sum().item<int64_t>());
    return true;
  };
  const SymbolSampler sampler(masks(),
                              {.steps = 4, .sampling = {.order = UncoverOrder::confidence}});
  sampler.run(flat, samples(1), {10}, {}, {}, {}, watch);
  // 10 cos(pi/2 k/4), rounded down.
  EXPECT_EQ(masked, (std::vector<int64_t>{10, 9, 7, 3}));
}

// Two positions and the exact posteriors of a joint distribution.
class Joint : public testing::Test {
 protected:
  // p(x0_i | x at the other position), which is enough for masks that are uncovered one at a time.
  SymbolNetwork exact() const {
    return network_of([this](const at::Tensor& x, const at::Tensor&) {
      const at::Tensor by_second = at::cat({joint_, joint_.sum(1, true)}, 1);  // [3, 4]
      const at::Tensor by_first = at::cat({joint_, joint_.sum(0, true)}, 0);   // [4, 3]
      return at::stack({by_second.t().index_select(0, x.select(1, 1)),
                        by_first.index_select(0, x.select(1, 0))},
                       1)
          .log();
    });
  }

  static constexpr int64_t kCount = 20000;

  // Pearson's statistic of drawn pairs against a joint distribution.
  static double chi_square(const at::Tensor& x, const at::Tensor& expected) {
    const at::Tensor counts = at::bincount(x.select(1, 0) * 3 + x.select(1, 1), {}, 9);
    const at::Tensor wanted = expected.reshape({-1}) * kCount;
    return ((counts - wanted).square() / wanted).sum().item<double>();
  }

  const at::Tensor joint_ =
      at::tensor({.20, .05, .05, .02, .18, .10, .10, .05, .25}, at::kDouble).view({3, 3});
};

// With eight degrees of freedom, the statistic exceeds 26.1 with probability .001.
constexpr double kLargest = 26.1;

TEST_F(Joint, IsDrawnByManySteps) {
  const SymbolSampler sampler(masks(), {.steps = 256});
  EXPECT_LT(chi_square(sampler.run(exact(), samples(kCount), {2}).x, joint_), kLargest);
}

TEST_F(Joint, IsTakenApartByASingleStep) {
  const SymbolSampler sampler(masks(), {.steps = 1});
  const at::Tensor x = sampler.run(exact(), samples(kCount), {2}).x;
  EXPECT_LT(chi_square(x, at::outer(joint_.sum(1), joint_.sum(0))), kLargest);
  EXPECT_GT(chi_square(x, joint_), 10 * kLargest);
}

// One position, whose distribution is known at all times. The golden numbers of the kernel's test
// say how far each way is from it.
TEST(SymbolSampler, DrawsTheDistributionOfASinglePosition) {
  const at::Tensor p0 = at::tensor({.6, .3, .1}, at::kDouble);
  constexpr int64_t kCount = 40000;
  const auto draw = [&](Reverse reverse, Predictor predictor, bool cavity, int64_t steps) {
    const SymbolProcess process = uniform(reverse);
    const SymbolNetwork exact = network_of([&](const at::Tensor& x, const at::Tensor& t) {
      const at::Tensor prior = p0.log().view({1, 1, 3}).expand({x.size(0), 1, 3});
      if (cavity) return prior.clone();
      const at::Tensor likelihood =
          process.kernel().log_from(x, at::zeros({1}, at::kDouble), t.to(at::kDouble));
      return at::Tensor((prior + likelihood).log_softmax(-1));
    });
    const SymbolSampler sampler(process, {.steps = steps, .sampling = {.predictor = predictor}});
    const at::Tensor x = sampler.run(exact, samples(kCount), {1}).x;
    const at::Tensor found =
        at::bincount(x.flatten(), {}, 3).to(at::kDouble) / static_cast<double>(kCount);
    return ((found - p0).abs().sum() / 2).item<double>();
  };
  EXPECT_LT(draw(Reverse::mean, Predictor::ancestral, false, 4), 0.01);
  EXPECT_LT(draw(Reverse::plug_in, Predictor::ancestral, true, 4), 0.01);
  EXPECT_LT(draw(Reverse::mean, Predictor::euler, false, 128), 0.02);
  EXPECT_GT(draw(Reverse::plug_in, Predictor::ancestral, false, 64), 0.05)
      << "a posterior that is used as a cavity's distribution is not the truth";
}

TEST(SymbolSampler, StopsWhenTheCallerSaysSo) {
  for (const Way& way : ways()) {
    const SymbolSampler sampler(way.process, {.steps = 6, .sampling = way.sampling});
    int64_t steps = 0;
    const SymbolSample sample = sampler.run(toy_network(), samples(8), {2}, {}, {}, {},
                                            [&](const SymbolStep&) { return ++steps < 2; });
    EXPECT_LE(steps, 2);
    EXPECT_LT(sample.x.max().item<int64_t>(), 3);
  }
}

TEST(SymbolSampler, RefusesWhatDoesNotFit) {
  const auto expect_refused = [](const SymbolProcess& process, const SymbolSamplerOptions& options,
                                 const std::string& words) {
    EXPECT_THAT([&] { SymbolSampler(process, options); },
                ThrowsMessage<UsageError>(HasSubstr(words)));
  };
  expect_refused(masks(), {.steps = 0}, "steps");
  expect_refused(masks(), {.steps = 1001}, "steps");
  expect_refused(masks(), {.sampling = {.predictor = Predictor::tau_leaping}}, "tau-leaping");
  expect_refused(uniform(), {.sampling = {.order = UncoverOrder::confidence}}, "masks");
  expect_refused(masks(), {.sampling = {.temperature = -1}}, "temperature");
  expect_refused(masks(),
                 {.sampling = {.predictor = Predictor::euler, .order = UncoverOrder::confidence}},
                 "ancestral");
}

}  // namespace
}  // namespace tessera
