// Diffusion of the values of pixels learns, with every published method.

#include "image_model/image_generator.h"
#include "image_model/image_model.h"
#include "image_model/symbol_methods.h"
#include "train/learner.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace tessera::task {
namespace {

// Pictures of two halves, one bright and one dark.
nn::Inputs two_pictures() {
  const at::Tensor bright = at::full({2, 2, 4, 1}, 200, at::kByte),
                   dark = at::full_like(bright, 30);
  return {at::cat({at::cat({bright, dark}, 1), at::cat({dark, bright}, 1)})};
}

TEST(SymbolImages, LearnTwoPicturesWithEveryMethod) {
  for (test::Method& method : test::methods()) {
    SCOPED_TRACE(method.name);
    method.options.network = {.width = 16, .stages = 2, .blocks = 1, .attention_side = 0};
    image_model::ImageModel model(method.options, {.channels = 1, .height = 4, .width = 4},
                                  /*classes=*/0, at::kCPU, nn::Precision::float32, 1);
    const nn::Inputs pictures = two_pictures();
    train::Learner learner(model, {.ema = 0}, /*seed=*/1);
    for (int64_t step = 0; step < 300; ++step) learner.update(step, std::span(&pictures, 1), 3e-3);

    model.refresh();
    const c10::NoGradGuard no_grad;
    image_model::SamplingOptions sampling;
    sampling.sampler.steps = 20;
    sampling.sampler.symbols = method.sampling;
    const at::Tensor made =
        image_model::ImageGenerator(model, sampling).generate(0, 40).to(at::kFloat).flatten(1);
    const at::Tensor known = pictures[0].to(at::kFloat).flatten(1);  // [4, 16]
    const at::Tensor far = (made.unsqueeze(1) - known).abs().amax(-1).amin(-1);
    EXPECT_GT(far.le(12).to(at::kFloat).mean().item<double>(), 0.8)
        << "shares of images with no value further off than 12, of 256";
    const double first = made.select(1, 0).gt(115).to(at::kFloat).mean().item<double>();
    EXPECT_GT(first, 0.2) << "both pictures are made";
    EXPECT_LT(first, 0.8);
  }
}

}  // namespace
}  // namespace tessera::task
