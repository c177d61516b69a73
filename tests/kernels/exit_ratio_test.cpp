#include "kernels/exit_ratio.h"

#include "kernels/cpu/row_scan.h"
#include "support/exit_problem.h"
#include "support/naive_exit.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <limits>

namespace tessera {
namespace {

using test::ExitProblem;

constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

TEST(ExitRatio, MatchesTheNaiveVersionForAnyShape) {
  for (const auto& shape : test::exit_shapes()) {
    if (shape.n * shape.k > 300000) continue;  // the naive version is slow
    const auto problem = ExitProblem::fresh(shape);
    const auto naive = test::naive_exit(problem.codes, problem.x0, problem.eps, problem.labels);
    for (const auto dtype : {at::kFloat, at::kDouble}) {
      const auto exit = problem.solve(at::kCPU, dtype);
      EXPECT_LT(test::step_error(exit.value, at::tensor(naive.ratio, at::kDouble)), 0.5)
          << shape << ", seed " << problem.seed;
      EXPECT_EQ(test::values(exit.outside),
                std::vector<double>(naive.outside.begin(), naive.outside.end()));
    }
  }
}

TEST(ExitRatio, KeepsThePrecisionRuleAtEveryShape) {
  for (const auto& shape : test::exit_shapes()) test::expect_precision(shape, at::kCPU);
}

TEST(ExitRatio, DoesNotDependOnTheNumberOfThreads) {
  const auto problem = ExitProblem::fresh({700, 900, 40});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = problem.solve(at::kCPU);
  at::set_num_threads(2);
  const auto two = problem.solve(at::kCPU);
  at::set_num_threads(threads);
  EXPECT_LT(test::step_error(one.value, two.value), 1e-2);
}

TEST(ExitRatio, OfLabelsWithoutACodeIsAnExitAtOnce) {
  auto problem = ExitProblem::fresh({6, 10, 8});
  problem.labels = at::tensor({-1, 0, 3, 10, 1000, -7}, at::kLong);
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto exit = problem.solve(at::kCPU, dtype);
    for (const int i : {0, 3, 4, 5}) {
      EXPECT_EQ(exit.value[i].item<float>(), kFloatInfinity);
      EXPECT_FALSE(exit.outside[i].item<bool>());
    }
  }
}

TEST(ExitRatio, FindsTiesDuplicatesAndPointsOutside) {
  ExitProblem problem = ExitProblem::fresh({4, 3, 2});
  problem.codes = at::tensor({1.0f, 0.0f, 1.0f, 0.0f, 0.0f, 1.0f}).reshape({3, 2});
  problem.labels = at::zeros({4}, at::kLong);
  problem.x0 = at::tensor({1.0f, 0.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f, 1.0f}).reshape({4, 2});
  problem.eps = at::tensor({1.0f, 0.0f, 0.0f, 1.0f, 1.0f, 0.0f, 1.0f, 0.0f}).reshape({4, 2});
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto exit = problem.solve(at::kCPU, dtype);
    const auto ratio = test::values(exit.value);
    EXPECT_EQ(ratio[0], -1);               // a duplicate, and a code that noise moves away from
    EXPECT_EQ(ratio[1], kFloatInfinity);   // a tie broken at once
    EXPECT_EQ(ratio[2], -kFloatInfinity);  // a tie that noise does not break
    EXPECT_EQ(ratio[3], kFloatInfinity);   // outside
    EXPECT_EQ(test::values(exit.outside), (std::vector<double>{0, 0, 0, 1}));
  }
}

TEST(ExitRatio, EveryInstructionSetGivesTheSameAnswer) {
  const auto scores = test::normal({1003}, 1), noise_scores = test::normal({1003}, 2);
  const kernels::cpu::OwnScore own{1.0f, 0.3f, 0.01f};  // some codes are within the guard
  const auto& scans = kernels::cpu::available_row_scans();
  ASSERT_FALSE(scans.empty());
  const auto run = [&](const kernels::cpu::RowScan& scan) {
    return scan.exit(own, scores.const_data_ptr<float>(), noise_scores.const_data_ptr<float>(),
                     1003);
  };
  const auto expected = run(*scans.back());
  for (const auto* scan : scans) {
    EXPECT_EQ(run(*scan).ratio, expected.ratio) << scan->name;
    EXPECT_EQ(run(*scan).smallest, expected.smallest) << scan->name;
    EXPECT_EQ(scan->maximum(scores.const_data_ptr<float>(), 1003), scores.max().item<float>());
    EXPECT_NEAR(scan->squared_norm(scores.const_data_ptr<float>(), 1003),
                scores.square().sum().item<float>(), 1e-2);
  }
}

}  // namespace
}  // namespace tessera
