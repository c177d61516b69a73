#pragma once

#include "nn/layers.h"

#include <tessera/files/safetensors.h>
#include <tessera/process/family.h>
#include <tessera/tensor/random.h>

#include <span>
#include <string_view>
#include <vector>

namespace tessera::nn {

// What a batch consists of, in the order its model says; on the host as it is made, on the device
// as it is learnt from.
using Inputs = std::vector<at::Tensor>;

struct TrainingLoss {
  at::Tensor total;     // scalar, carries the gradient
  at::Tensor measures;  // [n] float32, for people: what measures() names
  at::Tensor elements;  // scalar float32: how much data it was, in the unit of the task
};

// What a learner knows of a model: weights and a loss.
class Trainable {
 public:
  virtual ~Trainable() = default;
  Trainable(const Trainable&) = delete;
  Trainable& operator=(const Trainable&) = delete;

  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  at::Device device() const { return parameters_.device(); }

  // To be called after the weights have changed.
  virtual void refresh() = 0;

  // The numbers of a step: functions of (streams, row).
  virtual Draws draw_for(const Inputs& inputs, const TrainingStreams& streams) const = 0;

  // A loss is computed in one of a few variants, each of which is recorded as a graph of its own;
  // variant 0 is the plainest, and the one that is validated with.
  virtual int64_t variants() const { return 1; }
  // The variant of a training step.   chance  in [0, 1), a function of (seed, step)
  virtual int64_t variant(double /*chance*/) const { return 0; }

  // Loss of a batch. Reads the weights anew: no refresh() needed before.
  virtual TrainingLoss loss_of(const Inputs& inputs, const Draws& draws, int64_t variant,
                               Mode mode) = 0;

  // To be called before every update, with how many there have been: for what a model learns of its
  // own from the course of a training. Must not wait for the device.
  virtual void updated(int64_t /*updates*/) {}

  // Names of what a loss measures.
  virtual std::span<const std::string_view> measures() const = 0;

  // What a checkpoint has to hold beside the weights, by name. restore() takes the same, from
  // tensors whose names begin with a prefix.
  virtual safetensors::Tensors state() const { return {}; }
  virtual void restore(const safetensors::File& /*file*/, const std::string& /*prefix*/) {}

 protected:
  Trainable() = default;

  Parameters parameters_;
};

}  // namespace tessera::nn
