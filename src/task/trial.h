#pragma once

#include "task/recipe.h"

#include <tessera/task/training_cost.h>

#include <ATen/core/Tensor.h>

#include <filesystem>

namespace tessera::task {

// Makes some updates of a recipe's training, and estimates the cost of the whole training. Leaves
// nothing behind.
//   made   updates that are done already
//   trace  file for a profile of an update; empty: none
TrainingCost try_training(const Recipe& recipe, int64_t made, at::Device device,
                          const std::filesystem::path& trace);

}  // namespace tessera::task
