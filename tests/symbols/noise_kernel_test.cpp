#include <tessera/symbols/noise_kernel.h>

#include "symbols/kernel_checks.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace tessera {
namespace {

using test::expect_same;
using test::Kernels;
using test::matrix;
using test::row;
using test::symbol;
using test::time;

Kernels plain_kernels(int64_t symbols) {
  const Survival linear({.kind = SurvivalKind::linear, .horizon = 10});
  const Survival log_linear({.kind = SurvivalKind::log_linear, .horizon = 10});
  const Survival cosine({.kind = SurvivalKind::d3pm_cosine, .horizon = 10});
  return {{"absorbing", std::make_shared<AbsorbingKernel>(symbols, linear)},
          {"absorbing, log-linear", std::make_shared<AbsorbingKernel>(symbols, log_linear)},
          {"absorbing symbol", std::make_shared<AbsorbingSymbolKernel>(symbols, 1, linear)},
          {"uniform", std::make_shared<UniformKernel>(symbols, cosine)},
          {"uniform, log-linear", std::make_shared<UniformKernel>(symbols, log_linear)}};
}

// alpha = .7 at t = 3, .4 at t = 6.
Survival linear_survival() {
  return Survival({.kind = SurvivalKind::linear, .horizon = 10});
}

TEST(NoiseKernel, RowsSumToOne) {
  for (const auto& [name, kernel] : plain_kernels(5)) {
    SCOPED_TRACE(name);
    for (const auto& [s, t] : {std::pair(0.0, 1.0), std::pair(2.0, 7.5), std::pair(9.0, 9.9)})
      expect_same(matrix(*kernel, s, t).sum(1), at::ones({kernel->states()}));
  }
}

TEST(NoiseKernel, StepsMakeLongerSteps) {
  for (const auto& [name, kernel] : plain_kernels(5)) {
    SCOPED_TRACE(name);
    expect_same(at::matmul(matrix(*kernel, 1, 4), matrix(*kernel, 4, 9)), matrix(*kernel, 1, 9));
    expect_same(kernel->forward(at::eye(5, at::kDouble), time(4)),
                matrix(*kernel, 0, 4).narrow(0, 0, 5));
  }
}

TEST(NoiseKernel, PosteriorIsBayes) {
  for (const auto& [name, kernel] : plain_kernels(4)) {
    SCOPED_TRACE(name);
    const at::Tensor first = matrix(*kernel, 0, 3), second = matrix(*kernel, 3, 7),
                     whole = matrix(*kernel, 0, 7);
    for (int64_t x0 = 0; x0 < 4; ++x0)
      for (int64_t xt = 0; xt < kernel->states(); ++xt) {
        if (whole[x0][xt].item<double>() == 0) continue;
        const at::Tensor bayes = first[x0] * second.select(1, xt) / whole[x0][xt];
        expect_same(
            kernel->log_posterior(symbol(xt), symbol(x0), time(3), time(7)).exp().view({-1}),
            bayes);
      }
  }
}

TEST(NoiseKernel, PosteriorsAreAsComputedIndependently) {
  const UniformKernel uniform(4, linear_survival());
  expect_same(uniform.log_posterior(symbol(2), symbol(2), time(3), time(6)).exp().view({-1}),
              row({0.01461038961, 0.01461038961, 0.9561688312, 0.01461038961}), 1e-9);
  expect_same(uniform.log_posterior(symbol(1), symbol(2), time(3), time(6)).exp().view({-1}),
              row({0.05357142857, 0.3392857143, 0.5535714286, 0.05357142857}), 1e-9);
  const AbsorbingKernel absorbing(4, linear_survival());
  expect_same(absorbing.log_posterior(symbol(4), symbol(2), time(3), time(6)).exp().view({-1}),
              row({0, 0, 0.5, 0, 0.5}));
  expect_same(absorbing.uncovered(time(3), time(6)), row({0.5})[0]);
}

TEST(NoiseKernel, ReverseStepsAreAsComputedIndependently) {
  const UniformKernel uniform(4, linear_survival());
  const at::Tensor log_p = row({.1, .2, .3, .4}).log().view({1, 4});
  expect_same(
      uniform.log_reverse(log_p, symbol(1), time(3), time(6), Reverse::plug_in).exp().view({-1}),
      row({0.06754658385, 0.6343167702, 0.1327639752, 0.1653726708}), 1e-9);
  expect_same(
      uniform.log_reverse(log_p, symbol(1), time(3), time(6), Reverse::mean).exp().view({-1}),
      row({0.09577922078, 0.4626623377, 0.1957792208, 0.2457792208}), 1e-9);
}

TEST(NoiseKernel, PlugInIsTheMeanForMasks) {
  const AbsorbingKernel absorbing(4, linear_survival());
  const at::Tensor log_p = row({.1, .2, .3, .4}).log().view({1, 4});
  for (const int64_t xt : {1, 4})
    expect_same(absorbing.log_reverse(log_p, symbol(xt), time(3), time(6), Reverse::plug_in).exp(),
                absorbing.log_reverse(log_p, symbol(xt), time(3), time(6), Reverse::mean).exp());
}

// Two positions of a random joint distribution; the cavity of one has seen only the other.
TEST(NoiseKernel, PlugInOfTheCavityIsExact) {
  const UniformKernel uniform(3, linear_survival());
  const at::Tensor joint = (at::arange(9, at::kDouble) * 1.7).sin().add(1.2).view({3, 3});
  const at::Tensor prior = joint / joint.sum();
  const at::Tensor first = matrix(uniform, 0, 3), second = matrix(uniform, 3, 6),
                   whole = matrix(uniform, 0, 6);
  for (int64_t a = 0; a < 3; ++a)
    for (int64_t b = 0; b < 3; ++b) {
      // Of the first position, given x_t = (a, b).
      at::Tensor cavity = at::matmul(prior, whole.select(1, b));
      cavity = cavity / cavity.sum();
      at::Tensor posterior = cavity * whole.select(1, a);
      posterior = posterior / posterior.sum();
      at::Tensor exact = at::matmul(cavity, first) * second.select(1, a);
      exact = exact / exact.sum();
      const auto reverse = [&](const at::Tensor& p, Reverse how) {
        return uniform.log_reverse(p.log().view({1, 3}), symbol(a), time(3), time(6), how)
            .exp()
            .view({-1});
      };
      expect_same(reverse(cavity, Reverse::plug_in), exact);
      expect_same(reverse(posterior, Reverse::mean), exact);
      EXPECT_FALSE(at::allclose(reverse(posterior, Reverse::plug_in), exact, 1e-3, 1e-3));
    }
}

// A draw is piecewise constant in its random numbers. So over a fine grid it has the exact
// distribution, up to one grid point at every jump.
TEST(NoiseKernel, ReverseDrawsHaveTheirDistribution) {
  constexpr int64_t kGrid = 400;
  const at::Tensor line = (at::arange(kGrid, at::kDouble) + 0.5) / kGrid;
  const auto grid = at::meshgrid({line, line}, "ij");
  const at::Tensor u = at::stack({grid[0].reshape({-1}), grid[1].reshape({-1})});
  const int64_t count = u.size(1);
  const at::Tensor log_p = row({.1, .2, .3, .4}).log().expand({count, 4});
  for (const auto& [name, kernel] : plain_kernels(4))
    for (const Reverse reverse : {Reverse::plug_in, Reverse::mean})
      for (const int64_t xt : {int64_t{1}, kernel->states() - 1}) {
        SCOPED_TRACE(name + " from " + std::to_string(xt));
        const at::Tensor here = at::full({count}, xt, at::kLong);
        const at::Tensor drawn = kernel->draw_reverse(log_p, here, time(3), time(6), u, reverse);
        const at::Tensor share =
            at::bincount(drawn, {}, kernel->states()).to(at::kDouble) / static_cast<double>(count);
        const at::Tensor expected =
            kernel->log_reverse(log_p.narrow(0, 0, 1), symbol(xt), time(3), time(6), reverse)
                .exp()
                .view({-1});
        EXPECT_LT((share - expected).abs().max().item<double>(), 8.0 / kGrid);
      }
}

TEST(NoiseKernel, ForwardDrawsHaveTheirDistribution) {
  constexpr int64_t kGrid = 100000;
  const at::Tensor u = (at::arange(kGrid, at::kDouble) + 0.5) / kGrid;
  for (const auto& [name, kernel] : plain_kernels(4)) {
    SCOPED_TRACE(name);
    for (int64_t x = 0; x < kernel->states(); ++x) {
      const at::Tensor drawn = kernel->draw(at::full({kGrid}, x, at::kLong), time(2), time(6), u);
      const at::Tensor share = at::bincount(drawn, {}, kernel->states()).to(at::kDouble) / kGrid;
      EXPECT_LT((share - matrix(*kernel, 2, 6)[x]).abs().max().item<double>(), 1e-4);
    }
  }
}

// Compares the short forms of the kernels with the general ones.
TEST(NoiseKernel, DivergencesAreTheSumsTheyStandFor) {
  const at::Tensor log_p = row({.1, .25, .3, .35}).log().view({1, 4});
  for (const auto& [name, kernel] : plain_kernels(4))
    for (const Reverse reverse : {Reverse::plug_in, Reverse::mean})
      for (int64_t x0 = 0; x0 < 4; ++x0)
        for (int64_t xt = 0; xt < kernel->states(); ++xt) {
          if (kernel->has_mask() && xt != kernel->mask() && xt != x0) continue;
          if (name == "absorbing symbol") continue;  // it has no short forms
          SCOPED_TRACE(name + " " + std::to_string(x0) + " " + std::to_string(xt));
          expect_same(kernel->divergence(log_p, symbol(xt), symbol(x0), time(3), time(6), reverse),
                      kernel->NoiseKernel::divergence(log_p, symbol(xt), symbol(x0), time(3),
                                                      time(6), reverse));
          expect_same(kernel->divergence_rate(log_p, symbol(xt), symbol(x0), time(6), reverse),
                      kernel->NoiseKernel::divergence_rate(log_p, symbol(xt), symbol(x0), time(6),
                                                           reverse));
        }
}

TEST(NoiseKernel, DivergenceTimesTConverges) {
  const at::Tensor log_p = row({.1, .2, .3, .4}).log().view({1, 4});
  for (const auto& [name, kernel] : plain_kernels(4)) {
    if (name == "uniform") continue;  // its schedule is made of steps
    for (const Reverse reverse : {Reverse::plug_in, Reverse::mean}) {
      SCOPED_TRACE(name);
      const int64_t xt = kernel->has_mask() ? kernel->mask() : 1;
      const double limit =
          kernel->divergence_rate(log_p, symbol(xt), symbol(2), time(4), reverse).item<double>();
      const auto error = [&](double steps) {
        const double h = 10 / steps;
        return kernel->divergence(log_p, symbol(xt), symbol(2), time(4 - h), time(4), reverse)
                       .item<double>() *
                   steps -
               limit;
      };
      EXPECT_LT(std::abs(error(10000)), 2e-3 * limit);
      if (!kernel->has_mask()) {
        EXPECT_NEAR(error(100) / error(1000), 10, 2);
      }
    }
  }
}

// The uniform-state bound, K = 4, alpha = .6, alpha' = -1.
TEST(NoiseKernel, UniformBoundIsAsComputedIndependently) {
  const UniformKernel uniform(4, Survival({.kind = SurvivalKind::linear, .horizon = 10}));
  const at::Tensor log_p = row({.1, .2, .3, .4}).log().view({1, 4});
  const auto bound = [&](int64_t xt) {
    return uniform.divergence_rate(log_p, symbol(xt), symbol(2), time(4), Reverse::plug_in)
        .item<double>();
  };
  EXPECT_NEAR(bound(2), 0.5814816299, 1e-9);
  EXPECT_NEAR(bound(1), 2.650761188, 1e-8);
  const auto steps = [&](double count) {
    return count * uniform
                       .divergence(log_p, symbol(2), symbol(2), time(4 - 10 / count), time(4),
                                   Reverse::plug_in)
                       .item<double>();
  };
  EXPECT_NEAR(steps(100), 0.583264027, 1e-8);
  EXPECT_NEAR(steps(10000), 0.5814992882, 1e-7);
}

// q_t (R + R_reverse) = 0 for one position and the exact posterior: correctors keep the marginal.
TEST(NoiseKernel, CorrectorKeepsTheMarginal) {
  for (const auto& [name, kernel] : plain_kernels(3)) {
    SCOPED_TRACE(name);
    const at::Tensor prior = row({.6, .3, .1});
    const at::Tensor marginal = kernel->forward(prior, time(6));
    at::Tensor flow = at::zeros({kernel->states()}, at::kDouble), alone = flow.clone();
    for (int64_t x = 0; x < kernel->states(); ++x) {
      at::Tensor posterior = prior * matrix(*kernel, 0, 6).narrow(0, 0, 3).select(1, x);
      posterior = posterior / posterior.sum();
      const at::Tensor out = kernel->rates_from(symbol(x), time(6)).view({-1});
      const at::Tensor back =
          kernel->reverse_rates(posterior.log().view({1, 3}), symbol(x), time(6), Reverse::mean)
              .view({-1});
      const auto leave = [&](const at::Tensor& rates, at::Tensor& sum) {
        sum += marginal[x] * rates;
        sum[x] -= marginal[x] * rates.sum();
      };
      leave(out + back, flow);
      leave(out, alone);
    }
    EXPECT_LT(flow.abs().max().item<double>(), 1e-10);
    EXPECT_GT(alone.abs().max().item<double>(), 1e-3);
  }
}

}  // namespace
}  // namespace tessera
