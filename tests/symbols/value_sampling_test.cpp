// Samplers of ordered values, with networks that know the exact posterior.

#include <tessera/base/error.h>
#include <tessera/symbols/symbol_sampler.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

const at::Tensor& prior() {
  static const at::Tensor values = at::tensor({.05, .4, .1, .3, .15}, at::kDouble);
  return values;
}

SymbolProcess process_of(SymbolNoise noise, Reverse reverse = Reverse::mean) {
  return SymbolProcess(
      5, {.noise = noise,
          .survival = {.kind = SurvivalKind::linear, .horizon = 400},
          .continuous = noise == SymbolNoise::target_rate,
          .reverse = reverse,
          .first_term = FirstTerm::reverse,
          .mask_value = noise == SymbolNoise::absorbing ? 2 : -1,
          .gaussian = {1e-3, .3},
          .target_rate = {.reach = 2, .target_width = 20, .scale = .2, .growth = 30}});
}

// Positions are independent of each other, each with the prior.
SymbolNetwork exact(const SymbolProcess& process) {
  return {[&process](const at::Tensor& x, const at::Tensor& t) {
            const at::Tensor likelihood =
                process.kernel()
                    .log_from(x, at::zeros({}, at::kDouble), t[0].to(at::kDouble))
                    .narrow(-1, 0, 5);
            return (likelihood + prior().log()).clamp_min(-1e4).to(at::kFloat);
          },
          [](const at::Tensor& estimate) { return estimate; }};
}

double total_variation(const SymbolProcess& process, const SymbolSamplerOptions& options) {
  constexpr int64_t kRows = 200, kLength = 100;
  const SymbolSample sample =
      SymbolSampler(process, options).run(exact(process), at::arange(kRows), {kLength});
  const at::Tensor share =
      at::bincount(sample.x.flatten(), {}, 5).to(at::kDouble) / (kRows * kLength);
  return (share - prior()).abs().sum().item<double>() / 2;
}

TEST(ValueSampling, AncestralStepsAreExactForOnePosition) {
  for (const SymbolNoise noise :
       {SymbolNoise::gaussian, SymbolNoise::target_rate, SymbolNoise::absorbing})
    for (const int64_t steps : {1, 7})
      EXPECT_LT(total_variation(process_of(noise), {.steps = steps}), 0.012)
          << name_of(noise) << " in " << steps << " steps";
}

TEST(ValueSampling, LeapingConverges) {
  const SymbolProcess process = process_of(SymbolNoise::target_rate);
  for (const Predictor predictor : {Predictor::euler, Predictor::tau_leaping}) {
    SymbolSamplerOptions options{.steps = 4, .sampling = {.predictor = predictor}};
    const double coarse = total_variation(process, options);
    options.steps = 200;
    const double fine = total_variation(process, options);
    EXPECT_GT(coarse, 0.016) << name_of(predictor);
    EXPECT_LT(fine, 0.015) << name_of(predictor);
  }
}

TEST(ValueSampling, CorrectorsKeepTheDistribution) {
  const SymbolProcess process = process_of(SymbolNoise::target_rate);
  EXPECT_LT(total_variation(process, {.steps = 100,
                                      .sampling = {.predictor = Predictor::tau_leaping,
                                                   .correctors = 2,
                                                   .corrector_size = 0.5,
                                                   .corrector_from = 0.5}}),
            0.015);
}

TEST(ValueSampling, LeapsDependOnTheSampleAlone) {
  const SymbolProcess process = process_of(SymbolNoise::target_rate);
  const SymbolSampler sampler(process,
                              {.steps = 5, .sampling = {.predictor = Predictor::tau_leaping}});
  const auto run = [&](const at::Tensor& samples) {
    return sampler.run(exact(process), samples, {7}).x;
  };
  EXPECT_TRUE(at::equal(run(at::arange(6)).narrow(0, 4, 2), run(at::tensor({4, 5}, at::kLong))));
}

TEST(ValueSampling, HasThePublishedNumberOfCalls) {
  const SymbolProcess process(256, {.noise = SymbolNoise::target_rate, .min_time = 0.01});
  SymbolSampling sampling{.predictor = Predictor::tau_leaping, .last_time = 0.01};
  EXPECT_EQ(SymbolSampler(process, {.steps = 500, .sampling = sampling}).calls(), 500);
  sampling.correctors = 10;
  sampling.last_time = 0.012;
  EXPECT_EQ(SymbolSampler(process, {.steps = 500, .sampling = sampling}).calls(), 940);
}

TEST(ValueSampling, RefusesWhatStepsCannotDo) {
  const SymbolProcess gaussian = process_of(SymbolNoise::gaussian);
  const auto sampler = [&](SymbolSampling sampling) {
    return SymbolSampler(gaussian, {.steps = 10, .sampling = sampling});
  };
  EXPECT_THROW(sampler({.predictor = Predictor::tau_leaping}), UsageError);
  EXPECT_THROW(sampler({.predictor = Predictor::euler}), UsageError);
  EXPECT_THROW(sampler({.correctors = 1}), UsageError);
  EXPECT_THROW(sampler({.last_time = 0.1}), UsageError);
  EXPECT_THROW(SymbolSampler(gaussian, {.steps = 401}), UsageError) << "more steps than times";
}

TEST(ValueSampling, ProcessesRefuseOptionsOfOthers) {
  EXPECT_THROW(SymbolProcess(5, {.noise = SymbolNoise::gaussian}), UsageError) << "continuous";
  EXPECT_THROW(SymbolProcess(5, {.mask_value = 5}), UsageError);
  EXPECT_THROW(SymbolProcess(5, {.noise = SymbolNoise::uniform, .mask_value = 2}), UsageError);
  EXPECT_THROW(SymbolProcess(2000, {.noise = SymbolNoise::target_rate}), UsageError);
}

}  // namespace
}  // namespace tessera
