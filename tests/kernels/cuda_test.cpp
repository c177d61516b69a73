// CUDA kernels against the CPU's and float64. Built with the CUDA kernels; scripts/gpu-check runs
// them on a machine with a GPU.

#include "codebook/bit_exit.h"
#include "codebook/table_mean.h"
#include "support/exit_problem.h"
#include "support/older_gpu.h"
#include "tensor/device.h"

#include <tessera/tessera.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace tessera {
namespace {

using test::ExitProblem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Cuda : public testing::Test {
 protected:
  const at::Device device_{at::kCUDA, 0};
};

TEST_F(Cuda, ExitRatiosKeepThePrecisionRuleAtEveryShape) {
  auto shapes = test::exit_shapes();
  shapes.push_back({3000, 10007, 128});
  shapes.push_back({20000, 3001, 64});
  for (const auto& shape : shapes) test::expect_precision(shape, device_);
}

TEST_F(Cuda, ExitRatiosAreThoseOfTheCpu) {
  for (const auto& shape : test::exit_shapes()) {
    const auto problem = ExitProblem::fresh(shape);
    const auto cpu = problem.solve(at::kCPU), cuda = problem.solve(device_);
    EXPECT_LT(test::step_error(cuda.value, cpu.value), 0.5) << shape << ", seed " << problem.seed;
    EXPECT_TRUE(at::equal(cuda.outside, cpu.outside)) << shape << ", seed " << problem.seed;
  }
}

TEST_F(Cuda, OlderGpusComputeExitRatiosWithOperationsOfLibTorch) {
  const test::OlderGpu older;
  EXPECT_FALSE(kernels::cuda::has_hopper_code_for(0));
  // Several tiles of elements and of codes; no size is a multiple of a tile's.
  for (const auto& shape : {test::ExitShape{3000, 10007, 128}, {1, 1, 1}, {1025, 2049, 64}}) {
    test::expect_precision(shape, device_);
    const auto problem = ExitProblem::prediction(shape);
    const auto cpu = problem.solve(at::kCPU), cuda = problem.solve(device_);
    EXPECT_LT(test::step_error(cuda.value, cpu.value), 0.5) << shape << ", seed " << problem.seed;
    EXPECT_TRUE(at::equal(cuda.rows, cpu.rows)) << shape << ", seed " << problem.seed;
  }
}

TEST_F(Cuda, ExitRatiosRepeatToTheBit) {
  const auto problem = ExitProblem::prediction({5000, 7001, 128});
  const auto first = problem.solve(device_), second = problem.solve(device_);
  EXPECT_TRUE(at::equal(first.value, second.value));
  EXPECT_TRUE(at::equal(first.rows, second.rows));
}

TEST_F(Cuda, ExitRatiosHandleTiesDuplicatesAndPointsOutside) {
  ExitProblem problem = ExitProblem::fresh({6, 3, 2});
  problem.codes = at::tensor({1.0f, 0.0f, 1.0f, 0.0f, 0.0f, 1.0f}).reshape({3, 2});
  problem.labels = at::tensor({0, 0, 0, 0, -1, 3}, at::kLong);
  problem.x0 =
      at::tensor({1.f, 0.f, 1.f, 1.f, 1.f, 1.f, 0.f, 1.f, 1.f, 0.f, 1.f, 0.f}).reshape({6, 2});
  problem.eps =
      at::tensor({1.f, 0.f, 0.f, 1.f, 1.f, 0.f, 1.f, 0.f, 1.f, 0.f, 1.f, 0.f}).reshape({6, 2});
  const auto cpu = problem.solve(at::kCPU), cuda = problem.solve(device_);
  EXPECT_TRUE(at::equal(cuda.value, cpu.value)) << cuda.value;
  EXPECT_TRUE(at::equal(cuda.outside, cpu.outside)) << cuda.outside;
}

TEST_F(Cuda, NearDuplicateCodesAreNotTakenForOutside) {
  // Pairs of codes that differ by less than the tensor cores can resolve.
  auto problem = ExitProblem::fresh({2000, 2000, 128});
  at::Tensor codes = problem.codes.clone();
  codes.narrow(0, 1000, 1000)
      .copy_(codes.narrow(0, 0, 1000) * (1 - 1e-7) +
             1e-4 * test::normal({1000, 128}, problem.seed + 9));
  problem.codes = codes * (std::sqrt(128.0) / at::norm(codes, 2, {-1}, true));
  problem.x0 = problem.codes.index_select(0, problem.labels);
  const auto exact = problem.solve(device_, at::kDouble), ours = problem.solve(device_);
  EXPECT_TRUE(at::equal(ours.outside, exact.outside)) << "seed " << problem.seed;
  EXPECT_LT(test::step_error(ours.value, exact.value), 1.0) << "seed " << problem.seed;
}

TEST_F(Cuda, MeansOfCodesAreThoseOfFloat64) {
  for (const auto& [points, symbols, dim] :
       {std::tuple{7, 3, 2}, std::tuple{33, 1000, 30}, std::tuple{5000, 8001, 128}}) {
    const at::Tensor codes = test::unit_codes(symbols, dim, 1).to(device_);
    for (const double length : {0.1, 1.0}) {
      const at::Tensor x = length * test::unit_codes(points, dim, 2).to(device_);
      const at::Tensor exact = table_mean(codes.to(at::kDouble), {}, x.to(at::kDouble), 0.5);
      EXPECT_LT(test::largest_difference(table_mean(codes, {}, x, 0.5), exact), 1e-3)
          << points << " x " << symbols << " x " << dim;
    }
  }
}

TEST_F(Cuda, BitExitsAreThoseOfTheCpu) {
  for (int width = 1; width <= 16; ++width) {
    const at::Tensor x0 = test::normal({777, width}, width),
                     eps = test::normal({777, width}, 50 + width);
    const auto cpu = bit_exit_ratio(x0, eps, {});
    const auto cuda = bit_exit_ratio(x0.to(device_), eps.to(device_), {});
    EXPECT_TRUE(at::equal(cuda.patterns.cpu(), cpu.patterns)) << "width " << width;
    EXPECT_TRUE(at::allclose(cuda.ratio.cpu(), cpu.ratio, 1e-5, 1e-6)) << "width " << width;
    EXPECT_TRUE(at::equal(cuda.outside.cpu(), cpu.outside)) << "width " << width;
  }
}

TEST_F(Cuda, RandomNumbersAreThoseOfTheCpu) {
  const StreamId id{12, Purpose::test, 5};
  const at::Tensor samples = at::tensor({3, 1, 4, 1000000}, at::kLong);
  const at::Tensor cpu = random_normal(id, samples, {7, 11}, 2.0);
  EXPECT_LT(
      test::largest_difference(random_normal(id, samples.to(device_), {7, 11}, 2.0).cpu(), cpu),
      1e-4);
  EXPECT_TRUE(at::equal(random_integers(id, samples.to(device_), 1, 2000).cpu(),
                        random_integers(id, samples, 1, 2000)));
}

TEST_F(Cuda, NoisingAndSamplingAreThoseOfTheCpu) {
  const at::Tensor weight = test::normal({500, 32}, 1), mix = test::normal({32, 32}, 2) * 0.2;
  const at::Tensor labels = test::labels({8, 12}, 500, 3), eps = test::normal({8, 12, 32}, 4);
  const at::Tensor t = at::linspace(1, 2000, 8);
  for (const auto& [kind, name] : EnumNames<TrajectoryKind>::values) {
    ProcessOptions options;
    options.trajectory.kind = kind;
    const Process process(options);
    const auto noise_on = [&](at::Device device) {
      const EmbeddingTable table(weight.to(device));
      const at::Tensor ids = labels.to(device);
      return process.noise(table, table.encode(ids), ids, eps.to(device), t.to(device));
    };
    const auto cpu = noise_on(at::kCPU), cuda = noise_on(device_);
    EXPECT_LT(test::step_error(process.trajectory().ratio(cuda.tau.cpu().reshape({-1})),
                               process.trajectory().ratio(cpu.tau.reshape({-1}))),
              0.5)
        << name;

    const auto sample_on = [&](at::Device device) {
      const EmbeddingTable table(weight.to(device));
      const at::Tensor weights = mix.to(device);
      const Denoiser network = [&](const at::Tensor& x, const at::Tensor&, const at::Tensor&) {
        return at::tanh(at::matmul(x, weights)) * 3;
      };
      return Sampler(process, table, network, {.steps = 5})
          .run(at::arange(8, at::kLong).to(device), {12, 32})
          .labels.cpu();
    };
    EXPECT_GE((sample_on(device_) == sample_on(at::kCPU)).to(at::kDouble).mean().item<double>(),
              0.97)
        << name;
  }
}

TEST_F(Cuda, WrongValuesAreReportedWhenAskedWithoutACrash) {
  const EmbeddingTable table(test::normal({10, 4}, 1).to(device_));
  raise_deferred_errors();
  const at::Tensor codes = table.encode(at::tensor({3, 10, -1}, at::kLong).to(device_));
  EXPECT_EQ(codes.cpu().sizes(), (std::vector<int64_t>{3, 4}));
  EXPECT_THAT([] { raise_deferred_errors(); },
              ThrowsMessage<Error>(HasSubstr("labels must be in [0, 10)")));
  EXPECT_NO_THROW(raise_deferred_errors());

  const Process process({.trajectory = {.kind = TrajectoryKind::vp_sqrt}});
  const at::Tensor labels = at::zeros({2, 3}, at::kLong).to(device_), x0 = table.encode(labels);
  process.noise(table, x0, labels, x0, at::full({2}, std::nan("")).to(device_));
  EXPECT_THAT([] { raise_deferred_errors(); },
              ThrowsMessage<Error>(HasSubstr("t must be in [0, 2000]")));

  const at::Tensor bad = at::full({2, 4}, std::nan("")).to(device_);
  table.decode(bad);
  EXPECT_THAT([] { raise_deferred_errors(); }, ThrowsMessage<Error>(HasSubstr("x contains NaN")));
  set_value_checks(ValueChecks::immediate);
  EXPECT_THROW(table.decode(bad), Error);
  set_value_checks(ValueChecks::automatic);
}

TEST_F(Cuda, WrongValuesOfOneThreadDoNotShowInAnother) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (const bool fails : {true, false})
    threads.emplace_back([&, fails] {
      const EmbeddingTable table(test::normal({50, 8}, fails ? 1 : 2).to(device_));
      const at::Tensor good = table.codes().slice(0, 0, 20);
      const at::Tensor x = fails ? good * std::nan("") : good;
      for (int round = 0; round < 50; ++round) {
        const ValueCheckScope scope;
        table.decode(x);
        std::string found;
        try {
          raise_deferred_errors();
        } catch (const Error& error) {
          found = error.what();
        }
        wrong += found.empty() == fails;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_NO_THROW(raise_deferred_errors());
}

TEST_F(Cuda, TensorsOnTheWrongDeviceAreRefused) {
  const EmbeddingTable table(test::normal({10, 4}, 1).to(device_));
  EXPECT_THAT(
      [&] {
        table.decode(at::ones({2, 4}));
      },
      ThrowsMessage<Error>(HasSubstr("x must be on device cuda:0, is on cpu")));
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  testing::InitGoogleTest(&argc, argv);
  if (tessera::cuda_device_count() == 0) {
    std::cout << "skipped: no CUDA device\n";
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
