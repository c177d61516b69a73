#include <tessera/symbols/matrix_kernel.h>

#include "symbols/kernel_checks.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

namespace tessera {
namespace {

using test::expect_same;
using test::Kernels;
using test::matrix;
using test::row;
using test::symbol;
using test::time;

Kernels matrix_kernels(int64_t symbols) {
  const TargetRateOptions rates{.reach = 2, .target_width = 3, .scale = 0.05, .growth = 20};
  return {{"gaussian", std::make_shared<GaussianKernel>(symbols, 10, GaussianNoiseOptions{.1, .6})},
          {"target rate", std::make_shared<TargetRateKernel>(symbols, 10, rates)}};
}

// Golden values of 10 digits, computed independently in float64.
void expect_digits(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-9 * std::abs(expected));
}

TEST(MatrixKernel, RowsSumToOne) {
  for (const auto& [name, kernel] : matrix_kernels(6)) {
    SCOPED_TRACE(name);
    for (const auto& [s, t] : {std::pair(0.0, 1.0), std::pair(2.0, 7.0), std::pair(8.0, 9.0)}) {
      const at::Tensor chances = matrix(*kernel, s, t);
      EXPECT_GE(chances.min().item<double>(), 0);
      expect_same(chances.sum(1), at::ones({6}));
      if (name == "gaussian") expect_same(chances.sum(0), at::ones({6}));
    }
  }
}

TEST(MatrixKernel, StepsMakeLongerSteps) {
  for (const auto& [name, kernel] : matrix_kernels(5)) {
    SCOPED_TRACE(name);
    expect_same(at::matmul(matrix(*kernel, 1, 4), matrix(*kernel, 4, 9)), matrix(*kernel, 1, 9));
    expect_same(at::matmul(matrix(*kernel, 0, 4), matrix(*kernel, 4, 9)), matrix(*kernel, 0, 9));
    expect_same(kernel->forward(at::eye(5, at::kDouble), time(4)), matrix(*kernel, 0, 4));
    expect_same(kernel->marginal(at::arange(5), time(4)), matrix(*kernel, 0, 4));
    expect_same(matrix(*kernel, 3, 3), at::eye(5));
  }
}

TEST(MatrixKernel, TimesOfSamplesAreTimesOfEach) {
  for (const auto& [name, kernel] : matrix_kernels(5)) {
    SCOPED_TRACE(name);
    const at::Tensor x = at::tensor({0, 3, 4, 1, 2, 2}, at::kLong).view({3, 2});
    const at::Tensor t = row({1, 5, 9}), s = row({0, 4, 8}), zero = at::zeros_like(t);
    const at::Tensor p = at::rand({3, 2, 5}, at::kDouble);
    const at::Tensor u = at::rand({3, 2}, at::kDouble);
    for (int64_t i = 0; i < 3; ++i) {
      const at::Tensor own_t = t[i], own_s = s[i];
      expect_same(kernel->log_from(x, s, t)[i].exp(), kernel->log_from(x[i], own_s, own_t).exp());
      expect_same(kernel->log_from(x, zero, t)[i].exp(),
                  kernel->log_from(x[i], time(0), own_t).exp());
      expect_same(kernel->forward(p, t)[i], kernel->forward(p[i], own_t));
      expect_same(kernel->marginal(x, t)[i], kernel->marginal(x[i], own_t));
      expect_same(kernel->draw(x, zero, t, u)[i], kernel->draw(x[i], time(0), own_t, u[i]));
    }
  }
}

TEST(MatrixKernel, PosteriorIsBayes) {
  for (const auto& [name, kernel] : matrix_kernels(4)) {
    SCOPED_TRACE(name);
    const at::Tensor first = matrix(*kernel, 0, 3), second = matrix(*kernel, 3, 7),
                     whole = matrix(*kernel, 0, 7);
    for (int64_t x0 = 0; x0 < 4; ++x0)
      for (int64_t xt = 0; xt < 4; ++xt)
        expect_same(
            kernel->log_posterior(symbol(xt), symbol(x0), time(3), time(7)).exp().view({-1}),
            first[x0] * second.select(1, xt) / whole[x0][xt]);
  }
}

TEST(MatrixKernel, ForwardDrawsHaveTheirDistribution) {
  constexpr int64_t kGrid = 100000;
  const at::Tensor u = (at::arange(kGrid, at::kDouble) + 0.5) / kGrid;
  for (const int64_t symbols : {2, 4, 7})
    for (const auto& [name, kernel] : matrix_kernels(symbols)) {
      SCOPED_TRACE(name);
      for (int64_t x = 0; x < symbols; ++x) {
        const at::Tensor drawn = kernel->draw(at::full({kGrid}, x, at::kLong), time(2), time(6), u);
        const at::Tensor share = at::bincount(drawn, {}, symbols).to(at::kDouble) / kGrid;
        EXPECT_LT((share - matrix(*kernel, 2, 6)[x]).abs().max().item<double>(), 1e-4);
      }
      const at::Tensor start = at::bincount(kernel->start(u), {}, symbols).to(at::kDouble) / kGrid;
      const auto& tables = dynamic_cast<const MatrixKernel&>(*kernel);
      EXPECT_LT((start - tables.stationary()).abs().max().item<double>(), 1e-4);
    }
}

TEST(MatrixKernel, DivergenceIsNeverNotANumberNorItsGradient) {
  for (const auto& [name, kernel] : matrix_kernels(60)) {
    SCOPED_TRACE(name);
    // So sure of a far value that the others vanish in float32.
    at::Tensor logits = at::zeros({2, 3, 60});
    logits.select(-1, 59).fill_(400);
    logits.requires_grad_();
    const at::Tensor xt = at::tensor({0, 1, 59, 5, 3, 30}, at::kLong).view({2, 3}),
                     x0 = at::tensor({0, 0, 59, 4, 3, -1}, at::kLong).view({2, 3});
    const at::Tensor found = kernel->divergence(logits.log_softmax(-1), xt, x0, row({0, 4}),
                                                row({1, 5}), Reverse::plug_in);
    EXPECT_TRUE(found.isfinite().all().item<bool>()) << found;
    EXPECT_GT(found[0][0].item<double>(), 10);
    EXPECT_EQ(found[1][2].item<double>(), 0) << "no symbol, no loss";
    found.sum().backward();
    EXPECT_TRUE(logits.grad().isfinite().all().item<bool>());
  }
}

TEST(GaussianKernel, IsAsComputedIndependently) {
  const GaussianKernel one(5, 1, {.3, .3});
  expect_same(matrix(one, 0, 1)[0],
              row({0.7575124345, 0.2238288854, 0.01837299375, 0.0002848522053, 8.341326258e-07}),
              1e-9);
  expect_same(matrix(one, 0, 1)[2],
              row({0.01837299375, 0.2238288854, 0.5155962417, 0.2238288854, 0.01837299375}), 1e-9);
  const GaussianKernel two(5, 2, {.3, .6});
  expect_same(matrix(two, 0, 2)[1],
              row({0.2963585763, 0.3448832053, 0.2335172531, 0.1005643243, 0.02467664096}), 1e-9);
  expect_same(two.log_posterior(symbol(3), symbol(1), time(1), time(2)).exp().view({-1}),
              row({0.01906324777, 0.3650441774, 0.5343738107, 0.0808387019, 0.0006800621741}),
              1e-9);
}

TEST(GaussianKernel, OfPixelsIsAsComputedIndependently) {
  const GaussianKernel kernel(256, 1000);
  const std::vector<std::array<double, 5>> golden{
      {1, 0.4425015389, 0.7212507694, 8.518747029e-28, 0},
      {10, 0.1016132758, 0.213101859, 0.003964579272, 0},
      {100, 0.01342742584, 0.02717960694, 0.01268801357, 2.920101449e-18},
      {500, 0.003922172744, 0.005592588973, 0.00403430931, 0.00225273985},
      {1000, 0.003906250629, 0.003923271695, 0.003907429352, 0.003889228306}};
  for (const auto& [t, middle, corner, near, far] : golden) {
    SCOPED_TRACE(t);
    const at::Tensor chances = kernel.between(time(0), time(t));
    expect_digits(chances[128][128].item<double>(), middle);
    expect_digits(chances[0][0].item<double>(), corner);
    expect_digits(chances[100][110].item<double>(), near);
    EXPECT_NEAR(chances[0][255].item<double>(), far, 1e-9 * far + 1e-100);
  }
  const at::Tensor step = kernel.between(time(0), time(1))[128];
  expect_digits(step[129].item<double>(), 0.2391990193);
  expect_digits(step[130].item<double>(), 0.03778272026);
  // Information about a value that is left at the end, in bits.
  const at::Tensor end = kernel.between(time(0), time(1000));
  const at::Tensor lack = (end * (end.log() + std::log(256.0))).sum(1) / std::log(2.0);
  EXPECT_NEAR(lack.max().item<double>(), 6.63556181e-06, 1e-13);
}

TEST(GaussianKernel, RefusesWhatItHasNot) {
  const GaussianKernel kernel(5, 10);
  EXPECT_THROW(kernel.rates_from(symbol(1), time(3)), Error);
  EXPECT_THROW(kernel.between(row({2, 3}), row({3, 5})), Error) << "a step of 2";
  EXPECT_THROW(GaussianKernel(1025, 10), UsageError);
  EXPECT_THROW(GaussianKernel(5, 10, {.5, .1}), UsageError);
  EXPECT_THROW(GaussianKernel(1024, 1000000), Error) << "more memory than there is";
}

TEST(TargetRateKernel, ObeysDetailedBalance) {
  for (const int64_t symbols : {2, 7, 8, 256}) {
    const TargetRateKernel kernel(symbols, 100,
                                  {.target_width = 2.0 * static_cast<double>(symbols)});
    const at::Tensor share = kernel.stationary(), rates = kernel.base();
    const at::Tensor flow = share.unsqueeze(1) * rates;
    expect_same(flow, flow.t(), 1e-14);
    expect_same(rates.sum(1), at::zeros({symbols}), 1e-12);
    const at::Tensor later = kernel.between(time(20), time(90));
    EXPECT_GE(later.min().item<double>(), 0);
    expect_same(at::matmul(share, later), share, 1e-10);
  }
}

TEST(TargetRateKernel, IsAsComputedIndependently) {
  // Elapsed noise of one half at T.
  const TargetRateKernel kernel(8, 1, {.reach = 2, .target_width = 3, .scale = 0.5, .growth = 2});
  expect_same(kernel.base()[0],
              row({-2.272448952, 1, 0.7788007831, 0.3678794412, 0.1053992246, 0.01831563889,
                   0.001930454136, 0.0001234098041}),
              1e-9);
  expect_same(kernel.base()[4],
              row({0.06757991574, 0.3114032239, 0.7788007831, 1.057127745, -3.720624927,
                   0.8464817249, 0.4993517886, 0.1598797461}),
              1e-9);
  expect_same(kernel.stationary(),
              row({0.0991457265, 0.1308914731, 0.1546300047, 0.1634636682, 0.1546300047,
                   0.1308914731, 0.0991457265, 0.06720192304}),
              1e-9);
  expect_digits(kernel.elapsed(time(1)).item<double>(), 0.5);
  expect_same(kernel.between(time(0), time(1))[2],
              row({0.1057217334, 0.1493459121, 0.2715632907, 0.1688277552, 0.1414055885,
                   0.09362732534, 0.04772507494, 0.02178331983}),
              1e-9);
}

TEST(TargetRateKernel, OfPixelsIsAsComputedIndependently) {
  const TargetRateKernel kernel(256, 1000);
  const at::Tensor base = kernel.base();
  expect_digits(base[0][1].item<double>(), 1);
  expect_digits(base[1][0].item<double>(), 0.9995175572);
  expect_digits(base[128][127].item<double>(), 1.000001907);
  expect_digits(-base[0][0].item<double>(), 5.817361553);
  expect_digits(-base[100][100].item<double>(), 11.63201754);
  expect_digits(-base[128][128].item<double>(), 11.63419914);
  const std::vector<std::array<double, 6>> golden{
      {.01, 14.46661551, 0.1413856442, 0.2193415403, 0.01403459226, 0.4612185117},
      {.1, 21.89610863, 1.754679577, 0.01848788807, 0.01655437647, 0.03914401003},
      {.5, 138.1551056, 27, 0.004783424719, 0.004880719474, 0.00913629764},
      {1, 1381.551056, 297, 0.003946976107, 0.003945923886, 0.003842921574}};
  for (const auto& [s, speed, elapsed, middle, near, corner] : golden) {
    SCOPED_TRACE(s);
    const at::Tensor t = time(1000 * s);
    expect_digits(kernel.speed(t).item<double>(), speed);
    expect_digits(kernel.elapsed(t).item<double>(), elapsed);
    const at::Tensor chances = kernel.between(time(0), t);
    EXPECT_NEAR(chances[128][128].item<double>(), middle, 1e-8 * middle);
    EXPECT_NEAR(chances[100][110].item<double>(), near, 1e-8 * near);
    EXPECT_NEAR(chances[0][0].item<double>(), corner, 1e-8 * corner);
  }
}

TEST(TargetRateKernel, DivergenceTimesTConverges) {
  const auto kernel = matrix_kernels(5)[1].second;
  const at::Tensor log_p = row({.1, .2, .3, .25, .15}).log().view({1, 5});
  for (const Reverse reverse : {Reverse::plug_in, Reverse::mean})
    for (const int64_t xt : {0, 2, 4}) {
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
      EXPECT_NEAR(error(100) / error(1000), 10, 2);
    }
}

TEST(TargetRateKernel, CorrectorKeepsTheMarginal) {
  const auto kernel = matrix_kernels(4)[1].second;
  const at::Tensor prior = row({.5, .3, .15, .05});
  const at::Tensor marginal = kernel->forward(prior, time(6));
  at::Tensor flow = at::zeros({4}, at::kDouble), alone = flow.clone();
  for (int64_t x = 0; x < 4; ++x) {
    at::Tensor posterior = prior * matrix(*kernel, 0, 6).select(1, x);
    posterior = posterior / posterior.sum();
    const at::Tensor out = kernel->rates_from(symbol(x), time(6)).view({-1});
    const at::Tensor back =
        kernel->reverse_rates(posterior.log().view({1, 4}), symbol(x), time(6), Reverse::mean)
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

}  // namespace
}  // namespace tessera
