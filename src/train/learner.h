#pragma once

#include "nn/adamw.h"
#include "nn/trainable.h"
#include "ranks/group.h"
#include "tensor/cuda_graph.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::train {

struct LearnerOptions {
  nn::AdamWOptions adamw = {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-8, .weight_decay = 0.01};
  double clip = 1.0;       // largest norm of the gradient; 0: not clipped
  int64_t accumulate = 1;  // batches of an update
  double ema = 0.999;      // how much of the moving average of the weights is kept at an update
  bool graphs = true;      // record every shape's kernels once (CUDA)
};

// How the batches of an update are joined. A run keeps the rule it was begun with.
enum class UpdateRule {
  separate = 1,  // every batch has a variant of its own; gradients add up in the model's precision
  joint = 2,     // one variant for all; gradients add up in float32
};

// Means over the updates since they were last read.
struct Measured {
  int64_t updates = 0;
  double loss = 0;
  std::vector<std::pair<std::string, double>> parts;  // what the model measures, by name
  double gradient_norm = 0;                           // before clipping
  double elements = 0;  // amount of data in an update, in the unit of the task
  double skipped = 0;   // updates left out because the gradient was not finite
};

// Makes updates: forward, backward, clip, AdamW, moving average. Only read() and state() wait for
// the device.
//
// Processes of a group make an update together: of its `accumulate` batches, process r of W
// computes numbers r, r + W, r + 2 W, ... The update does not depend on W, but for the order of a
// sum.
class Learner {
 public:
  // Model and group must outlive it. Throws UsageError if there are more processes than batches.
  Learner(nn::Trainable& model, const LearnerOptions& options, uint64_t seed,
          ranks::Group& group = ranks::alone());

  // Whether this process computes batch `number` of an update.
  bool computes(int64_t number) const { return number % group_.size() == group_.rank(); }

  // One update. Its random numbers are functions of (seed, step, number of the batch).
  //   step     counts from 0
  //   batches  those that this process computes, in order, on the host
  void update(int64_t step, std::span<const nn::Inputs> batches, double learning_rate);

  // All processes of a group read together, and get the same.
  Measured read();

  UpdateRule rule() const { return rule_; }
  void set_rule(UpdateRule rule) { rule_ = rule; }  // before the first update

  // Takes the weights of a model file for the first update.
  void start_from(const safetensors::File& model);

  // Moving average of the weights, used for generation.
  const at::Tensor& average() const { return average_; }

  // All that the next update depends on, by name; restore() takes the same.
  safetensors::Tensors state() const;
  void restore(const safetensors::File& file);
  // Takes the state of process 0.
  void share_state();

 private:
  // The inputs and recorded variants for batches of one shape.
  struct Slot {
    // One variant of the loss, recorded when it comes the second time.
    struct Variant {
      CudaGraph graph;
      int seen = 0;
    };

    nn::Inputs inputs;
    Draws draws;
    std::vector<Variant> variants;
  };

  int64_t variant_for(int64_t step, int64_t number) const;
  void accumulate(Slot& slot, int64_t variant);
  void apply();
  Slot& slot(const nn::Inputs& batch);

  nn::Trainable& model_;
  LearnerOptions options_;
  uint64_t seed_;
  ranks::Group& group_;
  UpdateRule rule_ = UpdateRule::joint;
  bool graphs_;
  at::Tensor leaf_;  // the flat weights as AdamW's parameter
  nn::AdamW adamw_;
  at::Tensor average_;
  at::Tensor learning_rate_, average_share_;  // scalars of the update in progress
  at::Tensor sums_;                           // what read() divides: see learner.cpp
  std::map<std::vector<std::vector<int64_t>>, std::unique_ptr<Slot>> slots_;  // by sizes
  CudaGraph apply_graph_;
  int applied_ = 0;
  int64_t updates_ = 0;
};

}  // namespace tessera::train
