#pragma once

#include "base/cuda_graph.h"
#include "model/seq2seq.h"
#include "nn/adamw.h"
#include "text/batcher.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace tessera::train {

struct LearnerOptions {
  nn::AdamWOptions adamw = {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-8, .weight_decay = 0.01};
  double clip = 1.0;       // largest norm of the gradient; 0: not clipped
  int64_t accumulate = 1;  // batches of an update
  double ema = 0.999;      // how much of the moving average of the weights stays at an update
  bool graphs = true;      // record every shape's kernels once (CUDA)
};

// Means over the updates since they were last read.
struct Measured {
  int64_t updates = 0;
  double loss = 0;
  std::vector<std::pair<std::string, double>> parts;  // what the model measures, by name
  double gradient_norm = 0;                           // before clipping
  double tokens = 0;                                  // target tokens of an update
  double skipped = 0;  // updates left out because the gradient was not finite
};

// Makes updates: forward, backward, clip, AdamW, moving average. Nothing in here waits for the
// device but read() and state().
class Learner {
 public:
  // The model must outlive it.
  Learner(model::Seq2Seq& model, const LearnerOptions& options, uint64_t seed);

  // One update from `accumulate` batches. Its random numbers are functions of (seed, step).
  //   step  counts from 0
  void update(int64_t step, std::span<const text::Batch> batches, double learning_rate);

  Measured read();

  // Takes the weights of a model file for the first update.
  void start_from(const safetensors::File& model);

  // Moving average of the weights: what is generated with.
  const at::Tensor& average() const { return average_; }

  // All that the next update depends on, by name; restore() takes the same.
  safetensors::Tensors state() const;
  void restore(const safetensors::File& file);

 private:
  // What a batch of one shape is computed from and with.
  struct Slot {
    model::Seq2SeqBatch batch;
    model::Draws draws;
    CudaGraph graphs[2];  // without and with self-conditioning
    int seen[2] = {0, 0};
  };

  void accumulate(Slot& slot, bool self_condition);
  void apply();
  Slot& slot(const text::BatchShape& shape);

  model::Seq2Seq& model_;
  LearnerOptions options_;
  uint64_t seed_;
  bool graphs_;
  at::Tensor leaf_;  // the flat weights as AdamW's parameter
  nn::AdamW adamw_;
  at::Tensor average_;
  at::Tensor learning_rate_, average_share_;  // scalars of the update in progress
  at::Tensor sums_;                           // what read() divides: see learner.cpp
  std::map<text::BatchShape, std::unique_ptr<Slot>> slots_;
  CudaGraph apply_graph_;
  int applied_ = 0;
  int64_t updates_ = 0;
};

}  // namespace tessera::train
