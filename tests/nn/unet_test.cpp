#include "nn/unet.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

int64_t parameters_of(const UNetOptions& options, int64_t classes = 0) {
  Parameters parameters;
  const UNet network(parameters, "unet", options, 48, 24, 32, classes);
  parameters.allocate(at::kMeta, Precision::float32, 1);
  return parameters.count();
}

TEST(UNet, HasThePapersNumberOfParameters) {
  EXPECT_EQ(parameters_of({}), 52'017'432);
  EXPECT_EQ(parameters_of({.width = 128, .blocks = 2}), 9'696'280);
  EXPECT_EQ(parameters_of({.width = 128, .blocks = 2}, /*classes=*/10), 9'696'280 + 11 * 512);
}

struct UNetBench {
  explicit UNetBench(int64_t classes = 0)
      : network(parameters, "unet", {.width = 16, .stages = 2, .blocks = 1, .attention_side = 4},
                12, 6, 8, classes) {
    parameters.allocate(at::kCPU, Precision::float32, 1);
    at::manual_seed(3);
    // Layers that start as zero would hide mistakes.
    parameters.values().add_(at::randn_like(parameters.values()), 0.05);
    x = at::randn({2, 8, 8, 6});
    previous = at::randn({2, 8, 8, 6});
    time = at::tensor({10.0, 700.0});
  }

  at::Tensor run(const at::Tensor& classes = {}) const {
    return network(at::cat({x, previous}, -1), time, classes, Mode::inference);
  }

  Parameters parameters;
  UNet network;
  at::Tensor x, previous, time;
};

TEST(UNet, MakesPicturesOfTheSameSize) {
  const UNetBench bench;
  EXPECT_EQ(bench.run().sizes(), bench.x.sizes());
}

TEST(UNet, TreatsPicturesOfABatchApart) {
  UNetBench bench;
  const at::Tensor both = bench.run();
  bench.x[1].fill_(3);
  EXPECT_TRUE(at::allclose(bench.run()[0], both[0], 1e-4, 1e-5));
  EXPECT_FALSE(at::allclose(bench.run()[1], both[1], 1e-2, 1e-3));
}

TEST(UNet, SeesTheTimeTheEstimateAndTheClass) {
  UNetBench bench(/*classes=*/3);
  const at::Tensor classes = at::tensor({0, 2}, at::kLong);
  const at::Tensor before = bench.run(classes);
  EXPECT_FALSE(at::allclose(bench.run(at::tensor({1, 3}, at::kLong)), before, 1e-3, 1e-4));
  bench.time = bench.time + 100;
  const at::Tensor later = bench.run(classes);
  EXPECT_FALSE(at::allclose(later, before, 1e-3, 1e-4));
  bench.previous.zero_();
  EXPECT_FALSE(at::allclose(bench.run(classes), later, 1e-3, 1e-4));
}

TEST(UNet, RefusesSizesThatCannotBeHalved) {
  EXPECT_NO_THROW(UNet::check_size({.stages = 3}, 28, 28));
  EXPECT_THROW(UNet::check_size({.stages = 3}, 30, 28), UsageError);
}

}  // namespace
}  // namespace tessera::nn
