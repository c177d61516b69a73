#include <tessera/symbols/symbol_objective.h>

#include "symbols/toy_network.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tessera {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

at::Tensor symbols(std::vector<int64_t> values) {
  return at::tensor(values, at::kLong).unsqueeze(0);
}

at::Tensor at_time(double t) {
  return at::full({1}, t, at::kDouble);
}

SymbolProcess process(SymbolNoise noise, SurvivalKind schedule, int64_t horizon, Reverse reverse,
                      FirstTerm first_term, int64_t count = 3) {
  return SymbolProcess(count, {.noise = noise,
                               .survival = {.kind = schedule, .horizon = horizon},
                               .continuous = false,
                               .reverse = reverse,
                               .first_term = first_term});
}

// q(x_t | x_0) as a matrix [symbols, states].
at::Tensor marginals(const NoiseKernel& kernel, double t) {
  return kernel.forward(at::eye(kernel.symbols(), at::kDouble), at::scalar_tensor(t, at::kDouble));
}

// The expectation of symbol_bound() over times 1 .. T and noise, for the toy network, in nats for
// both positions. The prior's part is left out.
double expected_bound(const SymbolProcess& process, const at::Tensor& x0) {
  const NoiseKernel& kernel = process.kernel();
  const auto horizon = static_cast<int64_t>(process.horizon());
  double sum = 0;
  for (int64_t t = 1; t <= horizon; ++t) {
    const at::Tensor q = marginals(kernel, static_cast<double>(t));
    for (int64_t a = 0; a < kernel.states(); ++a)
      for (int64_t b = 0; b < kernel.states(); ++b) {
        const double weight =
            (q[x0[0][0].item<int64_t>()][a] * q[x0[0][1].item<int64_t>()][b]).item<double>();
        if (weight == 0) continue;
        const at::Tensor xt = symbols({a, b}), time = at_time(static_cast<double>(t));
        const auto prediction = SymbolPrediction::of(test::toy_logits(xt, time), x0);
        sum += weight * symbol_bound(process, prediction, xt, x0, time).sum().item<double>();
      }
  }
  return sum / static_cast<double>(horizon);
}

// KL(q(x_T | x_0) || uniform) of both positions.
double prior_part(const SymbolProcess& process, const at::Tensor& x0) {
  const at::Tensor q = marginals(process.kernel(), process.horizon());
  const at::Tensor each = (q * (q * 3).log()).sum(1);
  return each.index_select(0, x0[0]).sum().item<double>();
}

// The distribution of what ancestral sampling with the toy network gives, by enumeration: [3, 3].
at::Tensor exact_distribution(const SymbolProcess& process) {
  const NoiseKernel& kernel = process.kernel();
  const auto horizon = static_cast<int64_t>(process.horizon());
  const int64_t states = kernel.states();
  // p(x_T): all masks, or uniform.
  at::Tensor p = at::zeros({states, states}, at::kDouble);
  if (kernel.has_mask())
    p[states - 1][states - 1] = 1;
  else
    p.fill_(1.0 / static_cast<double>(states * states));
  for (int64_t t = horizon; t >= 1; --t) {
    at::Tensor next = at::zeros({states, states}, at::kDouble);
    for (int64_t a = 0; a < states; ++a)
      for (int64_t b = 0; b < states; ++b) {
        const double here = p[a][b].item<double>();
        if (here == 0) continue;
        const at::Tensor xt = symbols({a, b});
        at::Tensor log_p = test::toy_logits(xt, at_time(static_cast<double>(t))).log_softmax(-1);
        const bool as_it_is =
            t == 1 && process.options().first_term == FirstTerm::estimate && !kernel.has_mask();
        if (!as_it_is)
          log_p = kernel.log_reverse(log_p, xt, at_time(static_cast<double>(t - 1)),
                                     at_time(static_cast<double>(t)), process.options().reverse);
        const at::Tensor one = log_p.exp()[0];
        next.narrow(0, 0, one.size(1)).narrow(1, 0, one.size(1)) +=
            here * at::outer(one[0], one[1]);
      }
    p = next;
  }
  return p.narrow(0, 0, 3).narrow(1, 0, 3);
}

double exact_surprise(const SymbolProcess& process, const at::Tensor& x0) {
  const at::Tensor p = exact_distribution(process);
  return -std::log(p[x0[0][0].item<int64_t>()][x0[0][1].item<int64_t>()].item<double>());
}

TEST(SymbolBound, IsAsComputedIndependentlyForMasks) {
  const SymbolProcess d3pm = process(SymbolNoise::absorbing, SurvivalKind::linear, 4,
                                     Reverse::plug_in, FirstTerm::estimate);
  EXPECT_NEAR(expected_bound(d3pm, symbols({0, 1})), 3.106832323, 1e-7);
  EXPECT_NEAR(exact_surprise(d3pm, symbols({0, 1})), 3.038655933, 1e-8);
  EXPECT_NEAR(expected_bound(d3pm, symbols({2, 2})), 2.479948845, 1e-7);
  EXPECT_NEAR(exact_surprise(d3pm, symbols({2, 2})), 2.347998486, 1e-8);

  const at::Tensor xt = symbols({3, 1}), x0 = symbols({0, 1}), t = at_time(2);
  const auto prediction = SymbolPrediction::of(test::toy_logits(xt, t), x0);
  EXPECT_NEAR(prediction.surprise()[0][0].item<double>(), 2.353011563, 1e-8);
  EXPECT_NEAR(symbol_bound(d3pm, prediction, xt, x0, t).sum().item<double>(), 4.706023126, 1e-6);
}

struct UniformCase {
  Reverse reverse;
  FirstTerm first_term;
  double surprise, bound;
};

TEST(SymbolBound, IsAsComputedIndependentlyForUniformNoise) {
  const at::Tensor x0 = symbols({0, 1});
  for (const UniformCase& each :
       {UniformCase{Reverse::plug_in, FirstTerm::estimate, 2.279139524, 3.803753609},
        UniformCase{Reverse::plug_in, FirstTerm::reverse, 2.423767988, 2.511981661},
        UniformCase{Reverse::mean, FirstTerm::reverse, 2.261906047, 4.180257579}}) {
    SCOPED_TRACE(std::string(name_of(each.reverse)) + ", " + std::string(name_of(each.first_term)));
    const SymbolProcess d3pm =
        process(SymbolNoise::uniform, SurvivalKind::d3pm_cosine, 4, each.reverse, each.first_term);
    EXPECT_NEAR(exact_surprise(d3pm, x0), each.surprise, 1e-8);
    EXPECT_NEAR(expected_bound(d3pm, x0) + prior_part(d3pm, x0), each.bound, 1e-6);
  }
}

TEST(SymbolBound, IsAboveTheSurprise) {
  for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform})
    for (const Reverse reverse : {Reverse::plug_in, Reverse::mean})
      for (const FirstTerm first_term : {FirstTerm::estimate, FirstTerm::reverse}) {
        const SymbolProcess each = process(
            noise,
            noise == SymbolNoise::absorbing ? SurvivalKind::linear : SurvivalKind::d3pm_cosine, 4,
            reverse, first_term);
        const at::Tensor p = exact_distribution(each);
        EXPECT_NEAR(p.sum().item<double>(), 1, 1e-10);
        for (int64_t a = 0; a < 3; ++a) {
          const int64_t b = (a + 1) % 3;
          const at::Tensor x0 = symbols({a, b});
          const double prior = noise == SymbolNoise::uniform ? prior_part(each, x0) : 0;
          EXPECT_GT(expected_bound(each, x0) + prior, -std::log(p[a][b].item<double>()));
        }
      }
}

// Compares with the closed form for two positions and a network that is not told the time.
TEST(SymbolBound, OfMasksInContinuousTimeDoesNotDependOnTheSchedule) {
  const at::Tensor x0 = symbols({0, 1});
  const auto surprise = [&](int64_t a, int64_t b) {
    const at::Tensor logits = test::toy_logits(symbols({a, b}), at_time(0));
    return SymbolPrediction::of(logits, x0).surprise()[0];
  };
  const double closed =
      0.5 * (surprise(3, 3).sum() + surprise(3, 1)[0] + surprise(0, 3)[1]).item<double>();
  EXPECT_NEAR(closed, 3.361249923, 1e-8);
  for (const SurvivalKind kind : {SurvivalKind::log_linear, SurvivalKind::cosine}) {
    const SymbolProcess mdlm(
        3, {.survival = {.kind = kind, .horizon = 1000, .epsilon = 1e-6}, .min_time = 1e-6});
    double bound = 0;
    constexpr int kPoints = 400;
    for (int k = 0; k < kPoints; ++k) {
      const double t = 1000 * (k + 0.5) / kPoints;
      const double alpha = mdlm.absorbing()->survival().alpha(t);
      for (const bool first : {false, true})
        for (const bool second : {false, true}) {
          if (!first && !second) continue;
          const at::Tensor xt = symbols({first ? 3 : 0, second ? 3 : 1});
          const double weight = (first ? 1 - alpha : alpha) * (second ? 1 - alpha : alpha);
          const double hazard = mdlm.absorbing()->survival().hazard(at_time(t))[0].item<double>();
          const at::Tensor found = surprise(first ? 3 : 0, second ? 3 : 1);
          bound +=
              weight * hazard *
              ((first ? found[0].item<double>() : 0) + (second ? found[1].item<double>() : 0)) /
              kPoints;
        }
    }
    EXPECT_NEAR(bound, closed, 2e-3) << name_of(kind);
  }
}

TEST(ScoreEntropy, IsAsComputedIndependentlyForMasks) {
  // sigma = .7 of a linear schedule: alpha = e^-.7.
  const SymbolProcess sedd(3, {.survival = {.kind = SurvivalKind::linear, .horizon = 1000}});
  const double t = 1000 * -std::expm1(-0.7);
  const at::Tensor logits = at::tensor({0.3, -0.5, 0.8}, at::kDouble).view({1, 1, 3});
  const at::Tensor x0 = at::ones({1, 1}, at::kLong), xt = at::full({1, 1}, 3, at::kLong);
  const SymbolLoss loss = symbol_objective(sedd, SymbolPrediction::of(logits, x0), xt, x0,
                                           at_time(t), {}, {.target = SymbolTarget::score_entropy});
  const double rate = sedd.absorbing()->survival().sigma_rate(t);
  EXPECT_NEAR(loss.total.item<double>() / rate, 1.965557352, 1e-6);

  const SymbolLoss normalised =
      symbol_objective(sedd, SymbolPrediction::of(logits.log_softmax(-1) + std::log(3), x0), xt, x0,
                       at_time(t), {}, {.target = SymbolTarget::score_entropy});
  EXPECT_NEAR(normalised.total.item<double>() / rate, 1.904579828, 1e-6);
  const SymbolLoss bound =
      symbol_objective(sedd, SymbolPrediction::of(logits, x0), xt, x0, at_time(t), {}, {});
  EXPECT_NEAR(normalised.total.item<double>(), bound.total.item<double>(), 1e-6)
      << "score entropy of normalised scores is the bound";
}

TEST(ScoreEntropy, IsAsComputedIndependentlyForUniformNoise) {
  const SymbolProcess sedd(4, {.noise = SymbolNoise::uniform,
                               .survival = {.kind = SurvivalKind::linear, .horizon = 1000}});
  const double t = 1000 * -std::expm1(-0.7);
  const at::Tensor logits = at::tensor({0.3, -0.5, 0.0, 0.8}, at::kDouble).view({1, 1, 4});
  const at::Tensor xt = at::full({1, 1}, 2, at::kLong);
  const auto loss = [&](int64_t symbol) {
    const at::Tensor x0 = at::full({1, 1}, symbol, at::kLong);
    return symbol_objective(sedd, SymbolPrediction::of(logits, x0), xt, x0, at_time(t), {},
                            {.target = SymbolTarget::score_entropy})
        .total.item<double>();
  };
  const double rate = UniformKernel(4, Survival({.kind = SurvivalKind::linear, .horizon = 1000}))
                          .survival()
                          .sigma_rate(t);
  EXPECT_NEAR(loss(2) / rate, 0.6210979387, 1e-6);
  EXPECT_NEAR(loss(1) / rate, 1.628736951, 1e-6);
}

TEST(ScoreEntropy, IsNothingAtTheTruth) {
  const SymbolProcess sedd(4, {.noise = SymbolNoise::uniform,
                               .survival = {.kind = SurvivalKind::linear, .horizon = 1000}});
  const at::Tensor x0 = at::full({1, 1}, 1, at::kLong), xt = at::full({1, 1}, 2, at::kLong);
  const at::Tensor t = at_time(400);
  const at::Tensor marginal = sedd.kernel().forward(at::one_hot(x0, 4).to(at::kDouble), t);
  const at::Tensor ratios = (marginal / marginal[0][0][2]).log();
  const auto loss = [&](const at::Tensor& logits) {
    return symbol_objective(sedd, SymbolPrediction::of(logits, x0), xt, x0, t, {},
                            {.target = SymbolTarget::score_entropy})
        .total.item<double>();
  };
  EXPECT_NEAR(loss(ratios), 0, 1e-9);
  const at::Tensor other = ratios + at::tensor({0.1, 0.0, 0.0, 0.0}, at::kDouble);
  EXPECT_GT(loss(other), 1e-4);
}

// UDLM.
TEST(SymbolBound, OfUniformNoiseInContinuousTimeIsAsComputedIndependently) {
  // alpha = .6 with alpha' = -1 at s = .4.
  const SymbolProcess udlm(4, {.noise = SymbolNoise::uniform,
                               .survival = {.kind = SurvivalKind::linear, .horizon = 1000}});
  const at::Tensor logits = at::tensor({.1, .2, .3, .4}, at::kDouble).log().view({1, 1, 4});
  const auto bound = [&](int64_t xt, int64_t symbol) {
    const at::Tensor x0 = at::full({1, 1}, symbol, at::kLong);
    return symbol_bound(udlm, SymbolPrediction::of(logits, x0), at::full({1, 1}, xt, at::kLong), x0,
                        at_time(400))
        .item<double>();
  };
  EXPECT_NEAR(bound(2, 2), 0.5814816299, 1e-8);
  EXPECT_NEAR(bound(1, 2), 2.650761188, 1e-8);
  // The same value as the limit of whole steps.
  const UniformKernel& kernel = dynamic_cast<const UniformKernel&>(udlm.kernel());
  const at::Tensor x0 = at::full({1, 1}, 2, at::kLong);
  const auto stepped = [&](double steps) {
    return (kernel.divergence(logits, x0, x0, at_time(400 - 1000 / steps), at_time(400),
                              Reverse::plug_in) *
            steps)
        .item<double>();
  };
  EXPECT_NEAR(stepped(100), 0.583264027, 1e-6);
  EXPECT_NEAR(stepped(10000), 0.5814992882, 1e-5);
}

TEST(RatioMatching, IsAsComputedIndependently) {
  const SymbolProcess sddm(4, {.noise = SymbolNoise::uniform,
                               .survival = {.kind = SurvivalKind::linear, .horizon = 1000}});
  const at::Tensor logits = at::tensor({.1, .2, .3, .4}, at::kDouble).log().view({1, 1, 4});
  const at::Tensor one = at::ones({1, 1}, at::kLong);
  const SymbolLoss loss =
      symbol_objective(sddm, SymbolPrediction::of(logits, one), one, one, at_time(600), {},
                       {.target = SymbolTarget::ratio_matching});
  EXPECT_NEAR(loss.total.item<double>(), 1.46967597, 1e-8);
}

TEST(SymbolObjective, CountsTheCrossEntropyBesideTheWholeBound) {
  const SymbolProcess d3pm = process(SymbolNoise::uniform, SurvivalKind::d3pm_cosine, 4,
                                     Reverse::plug_in, FirstTerm::estimate);
  const at::Tensor xt = symbols({2, 1}), x0 = symbols({0, 1}), t = at_time(2);
  const auto prediction = SymbolPrediction::of(test::toy_logits(xt, t), x0);
  const SymbolLoss loss =
      symbol_objective(d3pm, prediction, xt, x0, t, {}, {.cross_entropy_weight = 0.004});
  EXPECT_NEAR(loss.bound.item<double>() / 4, (2.240072415 + 0.1682398235) / 2, 1e-8);
  EXPECT_NEAR(loss.cross_entropy.item<double>(), (1.889616167 + 1.187690673) / 2, 1e-8);
  EXPECT_NEAR(loss.total.item<double>() / 4 / std::log(2), 1.739449869, 1e-8)
      << "bits, with 0.001 of the cross-entropy to a term of the bound";
}

TEST(SymbolObjective, LeavesPaddingOut) {
  for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform}) {
    const SymbolProcess any(3, {.noise = noise});
    const at::Tensor x0 = at::tensor({0, 1, -1}, at::kLong).unsqueeze(0);
    const at::Tensor mask = x0.ge(0), t = at_time(500);
    const at::Tensor xt = any.noise(x0, t, at::full({1, 3}, 0.9, at::kDouble));
    EXPECT_EQ(xt[0][2].item<int64_t>(), -1);
    const auto total = [&](double padded) {
      at::Tensor logits = at::arange(9, at::kDouble).sin().view({1, 3, 3}).contiguous();
      logits[0][2] *= padded;
      return symbol_objective(any, SymbolPrediction::of(logits, x0), xt, x0, t, mask)
          .total.item<double>();
    };
    EXPECT_EQ(total(1), total(100));
    EXPECT_TRUE(std::isfinite(total(1)));
  }
}

TEST(SymbolObjective, RefusesWhatDoesNotFit) {
  const SymbolProcess masks(3, {}), uniform(3, {.noise = SymbolNoise::uniform});
  EXPECT_THAT([&] { require_objective(masks, {.target = SymbolTarget::ratio_matching}); },
              ThrowsMessage<UsageError>(HasSubstr("ratio-matching")));
  EXPECT_THAT([&] { require_objective(uniform, {.weight = MaskWeight::flat}); },
              ThrowsMessage<UsageError>(HasSubstr("absorbing")));
  const SymbolProcess whole(3, {.continuous = false});
  EXPECT_THAT([&] { require_objective(whole, {.target = SymbolTarget::score_entropy}); },
              ThrowsMessage<UsageError>(HasSubstr("continuous")));
}

}  // namespace
}  // namespace tessera
