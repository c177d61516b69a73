#include <tessera/base/error.h>
#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/process/sampler.h>

#include "support/processes.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Process short_process(std::string_view trajectory, double r, int64_t horizon = 100) {
  return test::process_with(trajectory, r, horizon);
}

// A small network that reacts to all its inputs.
at::Tensor wobbly(const at::Tensor& x, const at::Tensor& t, const at::Tensor& previous) {
  return at::tanh(x.roll(1, -1) * 0.7 + previous * 0.2 + t.reshape({-1, 1, 1}) * 0.003);
}

struct SamplerScene {
  EmbeddingTable table{test::normal({20, 4}, 1, at::kDouble), {.normalise = Normalise::l2}};
  at::Tensor noise = test::normal({3, 5, 4}, 2, at::kDouble);
  at::Tensor samples = at::arange(3, at::kLong);
};

TEST(Sampler, CallsTheNetworkOnAUniformGrid) {
  const SamplerScene scene;
  const Sampler sampler(short_process("ot", 1), scene.table, wobbly, {.steps = 5});
  EXPECT_THAT(sampler.times(), ElementsAre(100, 80, 60, 40, 20, 0));
  const Sampler uneven(short_process("ot", 1), scene.table, wobbly, {.steps = 3});
  EXPECT_THAT(uneven.times(), ElementsAre(100, 67, 33, 0));
}

TEST(Sampler, CallsTheNetworkOnARespacedGrid) {
  const SamplerScene scene;
  const Sampler sampler(short_process("ot", 1), scene.table, wobbly,
                        {.steps = 4, .grid = StepGrid::respaced});
  EXPECT_THAT(sampler.times(), ElementsAre(100, 67, 34, 1, 0));
  const Sampler skipping(short_process("ot", 1), scene.table, wobbly,
                         {.steps = 4, .grid = StepGrid::respaced, .skip_last = 2});
  EXPECT_THAT(skipping.times(), ElementsAre(100, 67, 0));
}

TEST(Sampler, CountsItsCalls) {
  const SamplerScene scene;
  for (const auto& [options, calls] :
       {std::pair{SamplerOptions{.steps = 7}, 7},
        std::pair{SamplerOptions{.steps = 7, .skip_last = 2}, 5},
        std::pair{SamplerOptions{.steps = 7, .noise = SamplerNoise::as_printed}, 8},
        std::pair{SamplerOptions::difformer(), 15}}) {
    int made = 0;
    const Denoiser counting = [&](const at::Tensor& x, const at::Tensor& t,
                                  const at::Tensor& previous) {
      ++made;
      return wobbly(x, t, previous);
    };
    const Sampler sampler(short_process("vp-sqrt", 0.5), scene.table, counting, options);
    EXPECT_EQ(sampler.run_from(scene.noise, scene.samples).calls, calls);
    EXPECT_EQ(made, calls);
  }
}

// DDIM, written out: x <- u(t') x0 + v(t') (x - u(t) x0) / v(t).
TEST(Sampler, WithoutBoundaryIsDdimToTheBit) {
  const SamplerScene scene;
  for (const auto& [kind, name] : EnumNames<TrajectoryKind>::values) {
    const Process process = short_process(name, 0);
    const Trajectory& path = process.trajectory();
    const Sampler sampler(process, scene.table, wobbly, {.steps = 10});
    at::Tensor x = path.v(100.0) * scene.noise, previous = at::zeros_like(x), x0;
    for (int k = 0; k < 10; ++k) {
      const double t = 100 - 10 * k, next = t - 10;
      x0 = previous = wobbly(x, at::full({3}, t, at::kDouble), previous);
      const auto at_time = [&](double tau) {
        return path.at(at::full({1, 1, 1}, tau, at::kDouble));
      };
      const auto now = at_time(t), then = at_time(next);
      x = then.u * x0 + then.v * ((x - now.u * x0) / now.v);
    }
    const Sample sample = sampler.run_from(scene.noise, scene.samples);
    EXPECT_EQ(test::largest_difference(sample.x0, x0), 0.0) << name;
    EXPECT_TRUE(at::equal(sample.labels, scene.table.decode(x0))) << name;
  }
}

TEST(Sampler, ForwardOnlyIsSamplingWithoutBoundary) {
  const SamplerScene scene;
  const auto run = [&](const Process& process, const SamplerOptions& options) {
    return Sampler(process, scene.table, wobbly, options).run_from(scene.noise, scene.samples).x0;
  };
  const at::Tensor plain = run(short_process("vp-cosine", 0), {.steps = 6});
  EXPECT_TRUE(
      at::equal(run(short_process("vp-cosine", 1), {.steps = 6, .rescale_reverse = false}), plain));
  EXPECT_TRUE(at::equal(run(short_process("vp-cosine", 1), {.steps = 6, .r = 0.0}), plain));
  EXPECT_FALSE(at::equal(run(short_process("vp-cosine", 1), {.steps = 6}), plain));
}

TEST(Sampler, FollowsTheRescaledClock) {
  // With the right answer from the start, tau of every step is T(t, G(x0, eps)) of the true path,
  // and the points lie on it.
  const SamplerScene scene;
  const at::Tensor labels = test::labels({3, 5}, 20, 3), x0 = scene.table.encode(labels);
  const Denoiser perfect = [&](const at::Tensor&, const at::Tensor&, const at::Tensor&) {
    return x0;
  };
  for (const char* name : {"ot", "vp-sqrt"}) {
    for (const auto clock : {SamplerClock::absolute, SamplerClock::velocity}) {
      const Process process = short_process(name, 0.8);
      const Sampler sampler(process, scene.table, perfect, {.steps = 8, .clock = clock});
      int steps = 0;
      const Sample sample =
          sampler.run_from(scene.noise, scene.samples, [&](const SampleStep& step) {
            // OT starts exactly at the noise; VP keeps a trace of x0 at T that the start noise does
            // not have.
            const auto t0 =
                stopping_time(process.trajectory(), scene.table, x0, step.eps_hat, labels).t0;
            if (step.index > 0) {
              const at::Tensor expected =
                  process.clock().tau(at::full({3}, step.t, at::kDouble), t0);
              EXPECT_LT(test::largest_difference(step.tau, expected), 1e-6) << name;
              const auto [u, v] = process.trajectory().at(expected);
              EXPECT_LT(test::largest_difference(
                            step.x, u.unsqueeze(-1) * x0 + v.unsqueeze(-1) * step.eps_hat),
                        1e-6)
                  << name;
            }
            EXPECT_TRUE(at::equal(step.labels, labels));
            ++steps;
            return true;
          });
      EXPECT_EQ(steps, 8);
      EXPECT_TRUE(at::equal(sample.labels, labels));
    }
  }
}

TEST(Sampler, FixedPathKeepsItsNoise) {
  const SamplerScene scene;
  const Sampler sampler(short_process("ot", 1), scene.table, wobbly, {.steps = 6, .alter = false});
  sampler.run_from(scene.noise, scene.samples, [&](const SampleStep& step) {
    EXPECT_TRUE(at::equal(step.eps_hat, scene.noise));
    return true;
  });
}

TEST(Sampler, StopsWhenTheCallbackSaysSo) {
  const SamplerScene scene;
  const Sampler sampler(short_process("ot", 1), scene.table, wobbly, {.steps = 10});
  at::Tensor seen;
  const Sample sample = sampler.run_from(scene.noise, scene.samples, [&](const SampleStep& step) {
    seen = step.x0_hat;
    return step.index < 2;
  });
  EXPECT_EQ(sample.calls, 3);
  EXPECT_TRUE(at::equal(sample.x0, seen));
}

TEST(Sampler, ClipsTheEstimateEverywhere) {
  const Bits bits({.width = 4});
  const Denoiser loud = [](const at::Tensor& x, const at::Tensor&, const at::Tensor& previous) {
    EXPECT_LE(previous.abs().max().item<double>(), 1.0);
    return 5 * x;
  };
  for (const auto boundary_of : {BoundaryOf::prediction, BoundaryOf::rounded}) {
    const Sampler sampler(short_process("vp-cosine", 0.5), bits, loud,
                          {.steps = 5, .boundary_of = boundary_of, .clip = 1.0});
    const Sample sample = sampler.run(at::arange(6, at::kLong), {3, 4});
    EXPECT_EQ(sample.labels.sizes(), (std::vector<int64_t>{6, 3}));
    EXPECT_LE(sample.x0.abs().max().item<double>(), 1.0);
  }
}

TEST(Sampler, ShowsTheNetworkItsLastEstimateUnlessTold) {
  const SamplerScene scene;
  for (const bool on : {true, false}) {
    at::Tensor last = at::zeros_like(scene.noise);
    const Denoiser remembering = [&](const at::Tensor& x, const at::Tensor& t,
                                     const at::Tensor& previous) {
      EXPECT_TRUE(at::equal(previous, on ? last : at::zeros_like(x)));
      return last = wobbly(x, t, previous);
    };
    Sampler(short_process("ot", 1), scene.table, remembering, {.steps = 4, .self_conditioning = on})
        .run_from(scene.noise, scene.samples);
  }
}

// DDIM again, with the mean of the codes in place of the estimate. The network is shown either.
TEST(Sampler, BuildsThePathFromTheEstimateItIsToldTo) {
  const SamplerScene scene;
  const Process process = short_process("vp-sqrt", 0);
  const Trajectory& path = process.trajectory();
  for (const auto shown : {Estimate::raw, Estimate::mean}) {
    const Sampler sampler(
        process, scene.table, wobbly,
        {.steps = 4, .estimate = Estimate::mean, .shown = shown, .logit_scale = 0.5});
    at::Tensor x = path.v(100.0) * scene.noise, previous = at::zeros_like(x), x0;
    for (const double t : {100.0, 75.0, 50.0, 25.0}) {
      x0 = wobbly(x, at::full({3}, t, at::kDouble), previous);
      const at::Tensor mean = scene.table.mean(x0, 0.5);
      previous = shown == Estimate::raw ? x0 : mean;
      const double next = t - 25;
      x = path.u(next) * mean + path.v(next) * ((x - path.u(t) * mean) / path.v(t));
    }
    const Sample sample = sampler.run_from(scene.noise, scene.samples);
    EXPECT_LT(test::largest_difference(sample.x0, x0), 1e-9);
    EXPECT_TRUE(at::equal(sample.labels, scene.table.decode(x0)));
  }
}

TEST(Sampler, RepeatsItselfForTheSameSeedWhateverTheBatch) {
  SamplerOptions options{.steps = 6, .noise = SamplerNoise::gaussian, .seed = 9};
  const Process process = short_process("vp-sqrt", 0.5);
  const EmbeddingTable table(test::normal({20, 4}, 1), {.normalise = Normalise::l2});
  const auto run = [&](const at::Tensor& samples) {
    return Sampler(process, table, wobbly, options).run(samples, {5, 4}).x0;
  };
  const at::Tensor all = run(at::arange(6, at::kLong));
  EXPECT_TRUE(at::equal(run(at::arange(6, at::kLong)), all));
  // LibTorch's own operations may differ in the last bit between batch sizes.
  const at::Tensor some = run(at::tensor({4, 1}, at::kLong));
  EXPECT_LT(test::largest_difference(some[0], all[4]), 1e-4);
  EXPECT_LT(test::largest_difference(some[1], all[1]), 1e-4);
  options.seed = 10;
  EXPECT_GT(test::largest_difference(run(at::arange(6, at::kLong)), all), 1e-2);
}

TEST(Sampler, RunsSamplesOfDifferentSeedsTogetherAsIfAlone) {
  const SamplerScene scene;
  SamplerOptions options{.steps = 5, .noise = SamplerNoise::gaussian};
  const at::Tensor samples = at::full({3}, 4, at::kLong);
  const at::Tensor seeds = at::tensor({3, 8, 3}, at::kLong);
  const auto sampler = [&] {
    return Sampler(short_process("ot", 1), scene.table, wobbly, options);
  };
  const Sample together = sampler().run(samples, {5, 4}, {}, seeds);
  for (int64_t row = 0; row < 3; ++row) {
    options.seed = static_cast<uint64_t>(seeds[row].item<int64_t>());
    const Sample alone = sampler().run(samples.narrow(0, row, 1), {5, 4});
    EXPECT_TRUE(at::allclose(together.x0[row], alone.x0[0], 1e-5, 1e-6));
  }
  EXPECT_FALSE(at::allclose(together.x0[0], together.x0[1]));
}

// With the right x0 and eta = 1, every state of the Gaussian sampler is distributed as the forward
// process at its time.
TEST(Sampler, GaussianStatesHaveTheMarginalsOfTheForwardProcess) {
  const EmbeddingTable table(test::normal({20, 4}, 1), {.normalise = Normalise::l2});
  const int64_t count = 40000;
  const at::Tensor labels = at::full({count, 1}, 7, at::kLong), x0 = table.encode(labels);
  const Denoiser perfect = [&](const at::Tensor&, const at::Tensor&, const at::Tensor&) {
    return x0;
  };
  for (const double r : {0.0, 1.0}) {
    const Process process = short_process("vp-cosine", r, 1000);
    const at::Tensor samples = at::arange(count, at::kLong);
    const Sampler sampler(process, table, perfect,
                          {.steps = 5, .noise = SamplerNoise::gaussian, .seed = 3});
    sampler.run(samples, {1, 4}, [&](const SampleStep& step) {
      const at::Tensor eps = process.draw_noise({4, Purpose::test, 0}, samples, {1, 4});
      const auto noised = process.noise(table, x0, labels, eps, at::full({count}, step.t));
      // Means of a few statistics agree within five standard errors.
      for (const auto& statistic : std::vector<std::function<at::Tensor(const at::Tensor&)>>{
               [](const at::Tensor& x) { return x; },
               [](const at::Tensor& x) { return x.square(); },
               [](const at::Tensor& x) { return x.abs().amax(-1, true); }}) {
        const at::Tensor a = statistic(step.x), b = statistic(noised.x);
        const at::Tensor spread = (a.var(0) / count + b.var(0) / count).sqrt() + 1e-6;
        EXPECT_LT(((a.mean(0) - b.mean(0)).abs() / spread).max().item<double>(), 5.0)
            << "r = " << r << ", t = " << step.t;
      }
      return true;
    });
  }
}

// r = 0, eta = 1: the ancestral step of DDPM, in mean and variance.
TEST(Sampler, GaussianWithoutBoundaryIsAncestralSampling) {
  const EmbeddingTable table(test::normal({20, 4}, 1), {.normalise = Normalise::l2});
  const int64_t count = 200000;
  const Process process = short_process("vp-cosine", 0, 1000);
  const Trajectory& path = process.trajectory();
  const at::Tensor x0 = table.encode(at::zeros({count, 1}, at::kLong));
  const at::Tensor noise = at::full({count, 1, 4}, 0.5);
  const Denoiser perfect = [&](const at::Tensor&, const at::Tensor&, const at::Tensor&) {
    return x0;
  };
  const Sampler sampler(process, table, perfect,
                        {.steps = 4, .noise = SamplerNoise::gaussian, .seed = 5});
  std::vector<at::Tensor> states;
  sampler.run_from(noise, at::arange(count, at::kLong), [&](const SampleStep& step) {
    states.push_back(step.x);
    return step.index < 1;
  });
  ASSERT_EQ(states.size(), 2u);
  const double abar = std::pow(path.u(1000.0), 2), abar_next = std::pow(path.u(750.0), 2);
  const double alpha = abar / abar_next;
  const at::Tensor mean = std::sqrt(abar_next) * (1 - alpha) / (1 - abar) * x0[0] +
                          std::sqrt(alpha) * (1 - abar_next) / (1 - abar) * states[0][0];
  const double variance = (1 - abar_next) * (1 - alpha) / (1 - abar);
  EXPECT_LT(test::largest_difference(states[1].mean(0), mean), 5 * std::sqrt(variance / count));
  EXPECT_NEAR(states[1].var(0).mean().item<double>(), variance, 0.01 * variance);
}

TEST(Sampler, ExactIndexRuns) {
  const SamplerScene scene;
  ProcessOptions options;
  options.trajectory = {.kind = TrajectoryKind::vp_sqrt, .horizon = 100};
  options.exact_index = true;
  for (const auto clock : {SamplerClock::absolute, SamplerClock::velocity}) {
    const Sampler sampler(Process(options), scene.table, wobbly, {.steps = 5, .clock = clock});
    sampler.run_from(scene.noise, scene.samples, [&](const SampleStep& step) {
      EXPECT_TRUE(at::isfinite(step.x).all().item<bool>());
      return true;
    });
  }
}

TEST(Sampler, SaysWhatIsWrong) {
  const SamplerScene scene;
  const Process process = short_process("ot", 1);
  const auto make = [&](const SamplerOptions& options) {
    Sampler(process, scene.table, wobbly, options);
  };
  EXPECT_THROW(make({.steps = 0}), UsageError);
  EXPECT_THROW(make({.steps = 101}), UsageError);
  EXPECT_THROW(make({.steps = 5, .skip_last = 5}), UsageError);
  EXPECT_THROW(make({.r = 1.2}), UsageError);
  EXPECT_THROW(make({.eta = -1}), UsageError);
  EXPECT_THROW(make({.clip = -1}), UsageError);
  EXPECT_THROW(make({.time_difference = -1}), UsageError);
  EXPECT_THROW(make({.noise_factor = 0}), UsageError);
  EXPECT_THROW(make({.state_end = 1}), UsageError);
  EXPECT_THROW(make({.grid = StepGrid::respaced, .state_end = 0.1}), UsageError);
  EXPECT_THROW(make({.told_end = 0}), UsageError);
  EXPECT_THROW(make({.noise_of = NoiseTime::told}), UsageError) << "with a boundary";
  EXPECT_THROW(make({.r = 0.0, .variance = SamplerVariance::large}), UsageError) << "of no noise";
  EXPECT_THROW(Sampler(process, scene.table, nullptr), Error);

  const Sampler sampler(process, scene.table, wobbly);
  EXPECT_THAT([&] { sampler.run_from(scene.noise.narrow(-1, 0, 3), scene.samples); },
              ThrowsMessage<Error>(HasSubstr("noise must have shape [B, ..., 4]")));
  EXPECT_THAT([&] { sampler.run_from(scene.noise, at::arange(2, at::kLong)); },
              ThrowsMessage<Error>(HasSubstr("samples must have shape [3]")));
  const Denoiser broken = [](const at::Tensor& x, const at::Tensor&, const at::Tensor&) {
    return x[0];
  };
  EXPECT_THAT([&] { Sampler(process, scene.table, broken).run_from(scene.noise, scene.samples); },
              ThrowsMessage<Error>(HasSubstr("the denoiser's result must have shape")));
  const Denoiser diverged = [](const at::Tensor& x, const at::Tensor&, const at::Tensor&) {
    return x / 0;
  };
  EXPECT_THAT([&] { Sampler(process, scene.table, diverged).run_from(scene.noise, scene.samples); },
              ThrowsMessage<Error>(HasSubstr("NaN or infinite")));
}

TEST(Sampler, ATimeDifferenceLetsTheStateRunAheadOfTheTimeTold) {
  const SamplerScene scene;
  const auto states = [&](double difference, SamplerClock clock = SamplerClock::absolute) {
    const Sampler sampler(short_process("ot", 0), scene.table, wobbly,
                          {.steps = 5, .clock = clock, .time_difference = difference});
    EXPECT_EQ(sampler.calls(), 5);
    std::vector<std::pair<double, double>> seen;  // the time told and that of the state
    sampler.run_from(scene.noise, scene.samples, [&](const SampleStep& step) {
      seen.emplace_back(step.t, step.tau[0][0].item<double>());
      return true;
    });
    return seen;
  };
  using Pairs = std::vector<std::pair<double, double>>;
  EXPECT_EQ(states(0), (Pairs{{100, 100}, {80, 80}, {60, 60}, {40, 40}, {20, 20}}));
  EXPECT_EQ(states(0.5), (Pairs{{100, 100}, {80, 70}, {60, 50}, {40, 30}, {20, 10}}));
  EXPECT_EQ(states(2).back(), std::pair(20.0, 1.0)) << "at least 1";
  // Without a boundary both clocks run evenly.
  EXPECT_EQ(states(0.5, SamplerClock::velocity), states(0.5));
}

TEST(Sampler, AFinalCallIsMadeFromTheStateAtTheEnd) {
  const SamplerScene scene;
  const Sampler sampler(short_process("ot", 0), scene.table, wobbly,
                        {.steps = 2, .final_call = true});
  EXPECT_EQ(sampler.calls(), 3);
  std::vector<double> told;
  at::Tensor before, state;
  const Sample sample = sampler.run_from(scene.noise, scene.samples, [&](const SampleStep& step) {
    told.push_back(step.t);
    if (step.index == 1) before = step.x0_hat;
    state = step.x;
    return true;
  });
  EXPECT_THAT(told, ElementsAre(100, 50, 1));
  EXPECT_EQ(sample.calls, 3);
  EXPECT_TRUE(at::allclose(state, before)) << "at time 0 the state is the estimate itself";
}

// CEDI of Dinoiser, for one number and an estimate that is always 1. Golden values by an
// independent script in float64.
TEST(Sampler, MayTellTimesThatAreLaterThanTheState) {
  const EmbeddingTable table(at::tensor({1.0, -1.0}, at::kDouble).reshape({2, 1}),
                             {.normalise = Normalise::none});
  const Denoiser one = [](const at::Tensor& x, const at::Tensor&, const at::Tensor&) {
    return at::ones_like(x);
  };
  const Sampler sampler(short_process("vp-sine", 0, 1000), table, one,
                        {.steps = 20,
                         .final_call = true,
                         .state_end = 1e-3,
                         .told_end = 0.99,
                         .noise_of = NoiseTime::told});
  std::vector<double> told, states, times;
  sampler.run_from(at::full({1, 1, 1}, -2.0, at::kDouble), at::arange(1, at::kLong),
                   [&](const SampleStep& step) {
                     told.push_back(step.t);
                     states.push_back(step.x.item<double>());
                     times.push_back(step.tau.item<double>());
                     return true;
                   });
  ASSERT_EQ(states.size(), 21u);
  EXPECT_NEAR(told[1], 999.5, 1e-9);
  EXPECT_NEAR(told[19], 990.5, 1e-9);
  const std::map<size_t, std::pair<double, double>> golden{{1, {950.05, -1.588002263}},
                                                           {2, {900.1, -1.022866855}},
                                                           {5, {750.25, 0.8013794165}},
                                                           {20, {1, 1.000919049}}};
  for (const auto& [step, expected] : golden) {
    EXPECT_NEAR(times[step], expected.first, 1e-9) << step;
    EXPECT_NEAR(states[step], expected.second, 1e-9) << step;
  }
}

TEST(Sampler, CediReducesToDdim) {
  const SamplerScene scene;
  const Process process = short_process("vp-sine", 0);
  const auto run = [&](const std::optional<double>& told_end, NoiseTime noise_of) {
    const Sampler sampler(
        process, scene.table, wobbly,
        {.steps = 10, .state_end = 0.02, .told_end = told_end, .noise_of = noise_of});
    return sampler.run_from(scene.noise, scene.samples).x0;
  };
  at::Tensor x = scene.noise, previous = at::zeros_like(x), x0;
  for (int k = 0; k < 10; ++k) {
    const double s = 1 - 0.98 * k / 10, next = 1 - 0.98 * (k + 1) / 10;
    x0 = previous = wobbly(x, at::full({3}, 100 * s, at::kDouble), previous);
    x = std::sqrt(1 - next * next) * x0 + next * ((x - std::sqrt(1 - s * s) * x0) / s);
  }
  const at::Tensor plain = run({}, NoiseTime::state);
  EXPECT_LT(test::largest_difference(plain, x0), 1e-12);
  EXPECT_TRUE(at::equal(run(0.02, NoiseTime::state), plain));
  EXPECT_TRUE(at::equal(run(0.02, NoiseTime::told), plain));
  EXPECT_FALSE(at::equal(run(0.99, NoiseTime::told), plain));
}

// The large variance of DDPM: the posterior's mean, and the noise of the forward step.
TEST(Sampler, LargeVarianceIsThatOfTheForwardStep) {
  const Process process = short_process("vp-sqrt", 0, 1000);
  const Trajectory& path = process.trajectory();
  const EmbeddingTable table(test::normal({9, 2}, 1, at::kDouble));
  constexpr int64_t count = 20000;
  const at::Tensor noise = test::normal({1, 1, 2}, 3, at::kDouble).expand({count, 1, 2});
  const at::Tensor x0 = test::normal({1, 1, 2}, 4, at::kDouble).expand({count, 1, 2});
  const Denoiser perfect = [&](const at::Tensor&, const at::Tensor&, const at::Tensor&) {
    return x0;
  };
  const Sampler sampler(
      process, table, perfect,
      {.steps = 4, .noise = SamplerNoise::gaussian, .seed = 5, .variance = SamplerVariance::large});
  std::vector<at::Tensor> states;
  sampler.run_from(noise.contiguous(), at::arange(count, at::kLong), [&](const SampleStep& step) {
    states.push_back(step.x);
    return step.index < 1;
  });
  const double abar = std::pow(path.u(1000.0), 2), abar_next = std::pow(path.u(750.0), 2);
  const double alpha = abar / abar_next;
  const at::Tensor mean = std::sqrt(abar_next) * (1 - alpha) / (1 - abar) * x0[0] +
                          std::sqrt(alpha) * (1 - abar_next) / (1 - abar) * states[0][0];
  const double variance = 1 - alpha;
  EXPECT_LT(test::largest_difference(states[1].mean(0), mean), 5 * std::sqrt(variance / count));
  EXPECT_NEAR(states[1].var(0).mean().item<double>(), variance, 0.02 * variance);
}

TEST(Sampler, FollowsTheScheduleOfEveryPosition) {
  const SamplerScene scene;
  const Process plain = short_process("vp-sqrt", 0);
  const TimeWarp warp(100, 4, at::kCPU);
  const Process warped(plain.options(), warp);
  const auto run = [&](const Process& process, SamplerNoise noise, std::vector<at::Tensor>& taus) {
    const Sampler sampler(process, scene.table, wobbly, {.steps = 5, .noise = noise, .seed = 3});
    return sampler
        .run_from(scene.noise, scene.samples,
                  [&](const SampleStep& step) {
                    taus.push_back(step.tau);
                    return true;
                  })
        .x0;
  };
  std::vector<at::Tensor> before, after;
  for (const SamplerNoise noise : {SamplerNoise::none, SamplerNoise::gaussian})
    EXPECT_LT(test::largest_difference(run(warped, noise, before), run(plain, noise, before)),
              1e-12)
        << "a schedule that was not changed changes nothing";

  // Position 2 is at another time, so the noise to redraw follows from its own times.
  warp.table().select(1, 2).pow_(2).div_(100);
  run(warped, SamplerNoise::gaussian, after);
  EXPECT_THAT(test::values(after[1][0]), ElementsAre(80, 80, 64, 80, 80));
  EXPECT_THAT(test::values(after[4][2]), ElementsAre(20, 20, 4, 20, 20));
  const Sampler alone(warped, scene.table, wobbly, {.steps = 5});
  EXPECT_THROW(Sampler(warped, scene.table, wobbly, {.clock = SamplerClock::velocity}), UsageError);
  EXPECT_THROW(Sampler(warped, scene.table, wobbly, {.r = 1.0}), UsageError);
}

TEST(NetworkTime, IsTheSameRangeWhateverTheHorizon) {
  const at::Tensor t = at::tensor({1.0, 2000.0}, at::kDouble);
  EXPECT_THAT(test::values(network_time(t, 2000)), ElementsAre(0, 999.5));
}

}  // namespace
}  // namespace tessera
