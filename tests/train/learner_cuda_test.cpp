// Training is reproducible to the bit on CUDA. Part of test_cuda.

#include "seq2seq/diffusion.h"
#include "support/temporary_folder.h"
#include "tensor/cuda_graph.h"
#include "text/dictionary.h"
#include "train/learner.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace tessera::train {
namespace {

using text::Dictionary;

// Batches of two shapes, in turn.
corpus::Batch batch_of(int64_t step) {
  const int64_t rows = step % 2 == 0 ? 16 : 8, length = step % 2 == 0 ? 8 : 16;
  corpus::Batch batch{{rows, length, length}, rows, {}, {}, {}};
  for (int64_t i = 0; i < rows * length; ++i) {
    const bool end = i % length == length - 1;
    batch.source.push_back(end ? Dictionary::kEos : 4 + (7 * i + step) % 190);
    batch.target.push_back(end ? Dictionary::kEos : 4 + (5 * i + 3 * step) % 190);
  }
  return batch;
}

struct Bench {
  explicit Bench(bool graphs)
      : model(options(), 200, {Dictionary::kBos, Dictionary::kPad, Dictionary::kUnk},
              at::Device(at::kCUDA, 0), nn::Precision::bfloat16, 1),
        learner(model, {.graphs = graphs}, /*seed=*/3) {}

  static seq2seq::Seq2SeqOptions options() {
    seq2seq::Seq2SeqOptions options;
    options.network.latent = 32;
    options.network.transformer = {.width = 128, .feedforward = 256, .heads = 2, .layers = 2};
    options.network.positions = 32;
    options.process.trajectory.kind = TrajectoryKind::ot;
    return options;
  }

  void update(int64_t step) {
    const nn::Inputs batch = seq2seq::Seq2SeqBatch::of(batch_of(step)).inputs();
    learner.update(step, std::span(&batch, 1), 1e-3);
  }

  seq2seq::Diffusion model;
  Learner learner;
};

class CudaLearner : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    at::globalContext().setDeterministicAlgorithms(true, false);
  }
  void TearDown() override { at::globalContext().setDeterministicAlgorithms(false, false); }
  const CudaStream stream_{at::Device(at::kCUDA, 0)};
};

TEST_F(CudaLearner, GraphsGiveTheBitsOfSingleLaunches) {
  Bench recorded(true), single(false);
  for (int64_t step = 0; step < 16; ++step) recorded.update(step);
  for (int64_t step = 0; step < 16; ++step) single.update(step);
  EXPECT_TRUE(at::equal(recorded.model.parameters().values(), single.model.parameters().values()));
  EXPECT_EQ(recorded.learner.read().skipped, 0);
}

TEST_F(CudaLearner, GoesOnToTheBit) {
  const test::TemporaryFolder folder;
  Bench whole(true), half(true);
  for (int64_t step = 0; step < 16; ++step) whole.update(step);
  for (int64_t step = 0; step < 9; ++step) half.update(step);
  safetensors::save(folder / "state", half.learner.state());
  Bench resumed(true);
  resumed.learner.restore(safetensors::File(folder / "state"));
  for (int64_t step = 9; step < 16; ++step) resumed.update(step);
  EXPECT_TRUE(at::equal(whole.model.parameters().values(), resumed.model.parameters().values()));
  EXPECT_TRUE(at::equal(whole.learner.average(), resumed.learner.average()));
}

}  // namespace
}  // namespace tessera::train
