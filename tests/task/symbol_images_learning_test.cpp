// Diffusion of the values of pixels learns, with every published method.

#include "image_model/image_model.h"
#include "image_model/symbol_methods.h"
#include "train/learner.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::task {
namespace {

// Cross-entropy of x0, always with the same noise.
double cross_entropy(image_model::ImageModel& model, const nn::Inputs& pictures) {
  const c10::NoGradGuard no_grad;
  const Draws draws =
      model.draw_for(pictures, {{1, Purpose::validation, 0}, {1, Purpose::validation, 1}});
  return model.loss_of(pictures, draws, /*variant=*/0, nn::Mode::inference)
      .measures[1]
      .item<double>();
}

TEST(SymbolImages, AreLearntByEveryMethod) {
  for (test::Method& method : test::methods()) {
    SCOPED_TRACE(method.name);
    method.options.network = {.width = 16, .stages = 1, .blocks = 1, .attention_side = 0};
    image_model::ImageModel model(method.options, {.channels = 1, .height = 4, .width = 4},
                                  /*classes=*/0, at::kCPU, nn::Precision::float32, 1);
    // Two halves, one bright and one dark.
    const at::Tensor bright = at::full({2, 2, 4, 1}, 200, at::kByte);
    const nn::Inputs pictures{at::cat({bright, at::full_like(bright, 30)}, 1)};
    const double before = cross_entropy(model, pictures);
    train::Learner learner(model, {.ema = 0}, /*seed=*/1);
    for (int64_t step = 0; step < 50; ++step) learner.update(step, std::span(&pictures, 1), 1e-2);
    EXPECT_LT(cross_entropy(model, pictures), before - 0.7) << "nats, of " << before;
  }
}

}  // namespace
}  // namespace tessera::task
