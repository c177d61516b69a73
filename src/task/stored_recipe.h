#pragma once

#include "base/config.h"
#include "task/recipe.h"
#include "train/run_folder.h"

namespace tessera::task {

// The configuration of a run, as its folder has it. Throws Error where that is damaged.
struct StoredRecipe {
  explicit StoredRecipe(const train::RunFolder& folder);

  Recipe recipe;
  std::map<std::string, config::Value> defaults, values;  // by key
};

}  // namespace tessera::task
