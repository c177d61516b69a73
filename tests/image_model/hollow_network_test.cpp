#include "image_model/hollow_network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera::image_model {
namespace {

constexpr ImageShape kHollowShape{.channels = 2, .height = 3, .width = 4};
constexpr int64_t kInputs = 5, kOutputs = 7;

class Hollow : public testing::Test {
 protected:
  Hollow() {
    parameters_.allocate(at::kCPU, nn::Precision::float32, /*seed=*/1);
    at::manual_seed(2);
    parameters_.values().add_(at::randn_like(parameters_.values()), 0.1);
  }

  at::Tensor run(const at::Tensor& x, double time = 300, int64_t label = 1) const {
    return network_(x, at::full({x.size(0)}, time), at::full({x.size(0)}, label, at::kLong),
                    nn::Mode::inference);
  }

  nn::Parameters parameters_;
  HollowNetwork network_{parameters_,  "hollow", {.width = 16, .layers = 2, .head_width = 8},
                         kHollowShape, kInputs,  kOutputs,
                         /*classes=*/3};
};

TEST_F(Hollow, NoPlaceSeesItsOwnSymbol) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({1, 3, 4, 2 * kInputs});
  const at::Tensor before = run(x).view({24, kOutputs});
  for (int64_t place = 0; place < 24; ++place) {
    at::Tensor changed = x.clone();
    changed.view({24, kInputs}).select(0, place).add_(1.5);
    const at::Tensor difference = (run(changed).view({24, kOutputs}) - before).abs().amax(1);
    EXPECT_EQ(difference[place].item<float>(), 0) << place;
    // All others see it.
    EXPECT_EQ(difference.gt(0).sum().item<int64_t>(), 23) << place;
  }
}

TEST_F(Hollow, IsToldTimeAndClass) {
  const at::Tensor x = at::ones({1, 3, 4, 2 * kInputs});
  EXPECT_EQ(run(x).sizes(), (std::vector<int64_t>{1, 3, 4, 2 * kOutputs}));
  EXPECT_FALSE(at::equal(run(x), run(x, 500)));
  EXPECT_FALSE(at::equal(run(x), run(x, 300, 2)));
}

TEST_F(Hollow, ASampleDoesNotDependOnOthers) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({3, 3, 4, 2 * kInputs});
  EXPECT_TRUE(at::allclose(run(x)[1], run(x.narrow(0, 1, 1))[0], 1e-4, 1e-5));
}

}  // namespace
}  // namespace tessera::image_model
