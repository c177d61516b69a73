#include <tessera/base/error.h>
#include <tessera/symbols/symbol_objective.h>
#include <tessera/symbols/symbol_process.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

// Gives speed 1 and elapsed noise 1/2 at T.
constexpr double kGrowth = 4.9215536345675055;

SymbolProcess eight_values() {
  return SymbolProcess(
      8, {.noise = SymbolNoise::target_rate,
          .survival = {.horizon = 1},
          .reverse = Reverse::mean,
          .target_rate = {
              .reach = 2, .target_width = 3, .scale = 0.5 / (kGrowth - 1), .growth = kGrowth}});
}

const TargetRateKernel& kernel_of(const SymbolProcess& process) {
  return dynamic_cast<const TargetRateKernel&>(process.kernel());
}

// The time T, for one sample.
at::Tensor end() {
  return at::ones({1}, at::kDouble);
}

TEST(OneJump, BoundIsAsComputedIndependently) {
  const SymbolProcess process = eight_values();
  const TargetRateKernel& kernel = kernel_of(process);
  EXPECT_NEAR(kernel.speed(end()).item<double>(), 1, 1e-10);
  EXPECT_NEAR(kernel.elapsed(end()).item<double>(), 0.5, 1e-10);

  const at::Tensor logits = at::arange(8, at::kDouble).sin().view({1, 1, 8});
  const at::Tensor x = at::full({1, 1}, 4, at::kLong), x0 = at::full({1, 1}, 2, at::kLong);
  const double found =
      one_jump_bound(process, SymbolPrediction::of(logits, x0), x, x0, end()).item<double>();

  // The published loss leaves out what does not depend on the network.
  const at::Tensor rates = kernel.base(), chances = kernel.between(at::zeros({}), end()[0])[2];
  double constant = 0, share = 0;
  for (int64_t y = 0; y < 8; ++y) {
    if (y == 4) continue;
    const double truth = (chances[y] / chances[4]).item<double>();
    const double flow = rates[y][4].item<double>() * truth;
    constant += flow * (std::log(truth) - 1);
    share += flow / -rates[y][y].item<double>();
  }
  EXPECT_NEAR(found - constant / share, 4.04489334, 1e-8);
}

TEST(OneJump, ChangesOneSymbolAsTheRatesHaveIt) {
  const SymbolProcess process = eight_values();
  const at::Tensor rates = kernel_of(process).base();
  constexpr int64_t kGrid = 300;
  const at::Tensor line = (at::arange(kGrid, at::kDouble) + 0.5) / kGrid;
  const auto grid = at::meshgrid({line, line}, "ij");
  const at::Tensor u = at::stack({grid[0].flatten(), grid[1].flatten()}, 1);
  const at::Tensor start = at::tensor({3, 0}, at::kLong);
  const at::Tensor x = start.expand({u.size(0), 2});
  const at::Tensor jumped = process.jump(x, end().expand({u.size(0)}), u);
  EXPECT_TRUE(jumped.ne(x).sum(1).eq(1).all().item<bool>()) << "one of the two, always";
  const double leave_first = -rates[3][3].item<double>(),
               leave_second = -rates[0][0].item<double>();
  for (int64_t k = 0; k < 2; ++k) {
    const at::Tensor here = jumped.select(1, k);
    const int64_t from = start[k].item<int64_t>();
    for (int64_t y = 0; y < 8; ++y) {
      if (y == from) continue;
      const double share = here.eq(y).to(at::kDouble).mean().item<double>();
      EXPECT_NEAR(share, rates[from][y].item<double>() / (leave_first + leave_second), 0.005);
    }
  }
}

TEST(OneJump, HasAGradientThatIsANumber) {
  const SymbolProcess process = eight_values();
  at::Tensor logits = at::zeros({2, 3, 8});
  logits.select(-1, 7).fill_(200);
  logits.requires_grad_();
  const at::Tensor x = at::tensor({0, 1, 7, 2, 6, 3}, at::kLong).view({2, 3});
  const at::Tensor x0 = at::tensor({0, 7, 7, 0, -1, 3}, at::kLong).view({2, 3});
  const at::Tensor t = at::tensor({0.001, 1.0}, at::kDouble);
  const at::Tensor found = one_jump_bound(process, SymbolPrediction::of(logits, x0), x, x0, t);
  EXPECT_TRUE(found.isfinite().all().item<bool>()) << found;
  EXPECT_EQ(found[1][1].item<double>(), 0) << "no symbol, no loss";
  found.sum().backward();
  EXPECT_TRUE(logits.grad().isfinite().all().item<bool>());
}

TEST(OneJump, IsForNoiseThatJumpsBetweenSymbols) {
  const SymbolObjectiveOptions jump{.target = SymbolTarget::one_jump};
  require_objective(eight_values(), jump);
  EXPECT_THROW(require_objective(SymbolProcess(8, {}), jump), UsageError);
  EXPECT_THROW(require_objective(SymbolProcess(8, {.noise = SymbolNoise::gaussian,
                                                   .survival = {.horizon = 10},
                                                   .continuous = false}),
                                 jump),
               UsageError);
  EXPECT_THROW(require_objective(eight_values(), {.target = SymbolTarget::score_entropy}),
               UsageError);
}

}  // namespace
}  // namespace tessera
