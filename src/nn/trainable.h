#pragma once

#include "nn/layers.h"

#include <tessera/base/random.h>

#include <span>
#include <string_view>
#include <vector>

namespace tessera::nn {

// What a batch consists of, in the order its model says; on the host as it is made, on the device
// as it is learnt from.
using Inputs = std::vector<at::Tensor>;

// The random numbers of a training step, drawn before it; undefined where a model needs none.
struct Draws {
  at::Tensor t;    // [B]           time of every sample, in {1 .. T}
  at::Tensor eps;  // [B, ..., d]   noise
};

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

  // The numbers of a step: functions of (seed, step, row).
  virtual Draws draw_for(const Inputs& inputs, const StreamId& noise,
                         const StreamId& time) const = 0;

  // Loss of a batch. Reads the weights anew: no refresh() needed before.
  //   self_condition  whether the network sees an estimate of its own first
  virtual TrainingLoss loss_of(const Inputs& inputs, const Draws& draws, bool self_condition,
                               Mode mode) = 0;

  // Share of the updates with self_condition.
  virtual double self_conditioning() const = 0;

  // Names of what a loss measures.
  virtual std::span<const std::string_view> measures() const = 0;

 protected:
  Trainable() = default;

  Parameters parameters_;
};

}  // namespace tessera::nn
