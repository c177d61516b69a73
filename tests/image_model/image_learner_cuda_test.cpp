// Training on images is reproducible to the bit on CUDA. Part of test_cuda.

#include "image_model/image_model.h"
#include "tensor/cuda_graph.h"
#include "train/learner.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace tessera::image_model {
namespace {

const at::Device kCuda(at::kCUDA, 0);

struct ImageBench {
  ImageBench(Coding coding, bool graphs)
      : model(options(coding), {.channels = 3, .height = 16, .width = 16}, 10, kCuda,
              nn::Precision::bfloat16, 1),
        learner(model, {.graphs = graphs}, /*seed=*/3) {}

  static ImageModelOptions options(Coding coding) {
    ImageModelOptions options;
    options.coding.kind = coding;
    options.network = {.width = 32,
                       .stages = 2,
                       .blocks = 1,
                       .attention_side = 8,
                       .head_width = 16,
                       .dropout = 0.1};
    options.conditional = true;
    return options;
  }

  void update(int64_t step) {
    const at::Tensor pictures =
        (at::arange(8 * 16 * 16 * 3) * 7 + step).remainder(256).to(at::kByte).view({8, 16, 16, 3});
    const nn::Inputs batch{pictures, at::arange(8)};
    learner.update(step, std::span(&batch, 1), 1e-3);
  }

  ImageModel model;
  train::Learner learner;
};

class CudaImageLearner : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    at::globalContext().setDeterministicAlgorithms(true, false);
  }
  void TearDown() override { at::globalContext().setDeterministicAlgorithms(false, false); }
  const CudaStream stream_{kCuda};
};

TEST_F(CudaImageLearner, GraphsGiveTheBitsOfSingleLaunches) {
  for (const Coding coding : {Coding::bits, Coding::trainable}) {
    SCOPED_TRACE(name_of(coding));
    ImageBench recorded(coding, true), single(coding, false);
    for (int64_t step = 0; step < 8; ++step) recorded.update(step);
    for (int64_t step = 0; step < 8; ++step) single.update(step);
    const at::Tensor a = recorded.model.parameters().values(),
                     b = single.model.parameters().values();
    EXPECT_TRUE(a.isfinite().all().item<bool>());
    EXPECT_TRUE(at::equal(a, b)) << (a - b).abs().max().item<float>();
  }
}

}  // namespace
}  // namespace tessera::image_model
