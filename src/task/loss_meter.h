#pragma once

#include "nn/trainable.h"
#include "ranks/group.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera::task {

// Means of losses over batches, each weighted by its amount of data. Never waits for the device
// before it is read.
class LossMeter {
 public:
  explicit LossMeter(const nn::Trainable& model);

  void add(const nn::TrainingLoss& loss);
  // As if what all processes added had been added here.
  void share(ranks::Group& group) { group.sum(sums_); }

  struct Means {
    double loss = 0;
    std::vector<std::pair<std::string, double>> parts;  // what the model measures, by name
  };
  Means means() const;  // zeros if nothing was added

 private:
  const nn::Trainable& model_;
  at::Tensor sums_;  // [n + 2] float64: the loss, what the model measures, the data
};

}  // namespace tessera::task
