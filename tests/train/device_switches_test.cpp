#include "train/device_switches.h"

#include "support/complaint.h"

#include <ATen/Context.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

namespace tessera::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Switches need no GPU: LibTorch keeps them in every build.
const c10::Device kCuda(c10::kCUDA, 0), kCpu(c10::kCPU);

std::string switches() {
  const at::Context& context = at::globalContext();
  return fmt::format(
      "tf32 {} cudnn attention {} benchmark {} deterministic {} {} fill {} checks {}",
      context.allowTF32CuBLAS(), context.userEnabledCuDNNSDP(), context.benchmarkCuDNN(),
      context.deterministicAlgorithms(), context.deterministicAlgorithmsWarnOnly(),
      context.deterministicFillUninitializedMemory(), static_cast<int>(value_checks()));
}

TEST(DeviceSwitches, ArePutBackAsTheyWere) {
  at::Context& context = at::globalContext();
  for (const bool set : {false, true}) {
    context.setBenchmarkCuDNN(set);
    context.setDeterministicAlgorithms(set, set);
    const std::string before = switches();
    {
      const DeviceSwitches training(kCuda, /*deterministic=*/false);
      EXPECT_TRUE(context.allowTF32CuBLAS());
      EXPECT_TRUE(context.benchmarkCuDNN());
      EXPECT_FALSE(context.deterministicAlgorithms());
      EXPECT_EQ(value_checks(), ValueChecks::off);
    }
    EXPECT_EQ(switches(), before);
  }
  context.setBenchmarkCuDNN(false);
  context.setDeterministicAlgorithms(false, false);
}

TEST(DeviceSwitches, StayUntilTheLastTrainingIsOver) {
  const std::string before = switches();
  std::optional<DeviceSwitches> first(std::in_place, kCuda, false);
  {
    const DeviceSwitches second(kCuda, false);
    EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  }
  EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  first.reset();
  EXPECT_EQ(switches(), before);
}

TEST(DeviceSwitches, ChangeNothingOnTheCpu) {
  const std::string before = switches();
  const DeviceSwitches training(kCpu, /*deterministic=*/true);
  EXPECT_EQ(switches(), before);
}

TEST(DeviceSwitches, AskForTheEnvironmentThatDeterminismNeeds) {
  const std::string before = switches();
  ::unsetenv("CUBLAS_WORKSPACE_CONFIG");
  EXPECT_THAT(test::complaint([] { DeviceSwitches(kCuda, true); }),
              AllOf(HasSubstr("CUBLAS_WORKSPACE_CONFIG=:4096:8"), HasSubstr("before the program")));
  EXPECT_EQ(switches(), before);
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 1);
  {
    const DeviceSwitches training(kCuda, true);
    EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
    EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
    EXPECT_THAT(test::complaint([] { DeviceSwitches(kCuda, false); }),
                HasSubstr("another train.deterministic"));
  }
  ::unsetenv("CUBLAS_WORKSPACE_CONFIG");
  EXPECT_EQ(switches(), before);
}

}  // namespace
}  // namespace tessera::train
