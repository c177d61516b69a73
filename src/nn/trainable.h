#pragma once

#include "nn/layers.h"

#include <tessera/files/safetensors.h>
#include <tessera/process/family.h>
#include <tessera/tensor/random.h>

#include <span>
#include <string_view>
#include <vector>

namespace tessera::nn {

// The tensors of a batch, in the order that its model expects. They are made on the host and used
// on the device.
using Inputs = std::vector<at::Tensor>;

struct TrainingLoss {
  at::Tensor total;     // scalar, carries the gradient
  at::Tensor measures;  // [n] float32, for people; measures() has their names
  at::Tensor elements;  // scalar float32: amount of data, in the unit of the task
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

  // The random numbers of a step: functions of (streams, row).
  virtual Draws draw_for(const Inputs& inputs, const TrainingStreams& streams) const = 0;

  // A loss is computed in one of a few variants, each recorded as a graph of its own. Variant 0 is
  // the plainest; validation uses it.
  virtual int64_t variants() const { return 1; }
  // The variant of a training step.   chance  in [0, 1), a function of (seed, step)
  virtual int64_t variant(double /*chance*/) const { return 0; }

  // Loss of a batch. Reads the weights anew: no refresh() needed before.
  virtual TrainingLoss loss_of(const Inputs& inputs, const Draws& draws, int64_t variant,
                               Mode mode) = 0;

  // To be called before every update, with the number of updates so far: for state that a model
  // adapts during training. Must not wait for the device.
  virtual void updated(int64_t /*updates*/) {}

  // Names of what a loss measures.
  virtual std::span<const std::string_view> measures() const = 0;

  // What a checkpoint has to hold besides the weights, by name. restore() takes the same from the
  // tensors whose names begin with `prefix`.
  virtual safetensors::Tensors state() const { return {}; }
  virtual void restore(const safetensors::File& /*file*/, const std::string& /*prefix*/) {}

 protected:
  Trainable() = default;

  Parameters parameters_;
};

}  // namespace tessera::nn
