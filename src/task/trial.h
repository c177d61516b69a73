#pragma once

#include "task/recipe.h"

#include <tessera/task/training_cost.h>

#include <ATen/core/Tensor.h>

#include <filesystem>

namespace tessera::task {

// Makes some updates of a recipe's training, and says what all of it would take. Leaves nothing
// behind.
//   made   updates that need not be made any more
//   trace  file for a profile of an update; empty: none
TrainingCost try_training(const Recipe& recipe, int64_t made, at::Device device,
                          const std::filesystem::path& trace);

}  // namespace tessera::task
