#pragma once

#include "base/config.h"
#include "train/options.h"
#include "train/run_folder.h"

namespace tessera::train {

// The configuration of a run, as its folder has it. Throws Error where that is damaged.
struct StoredRecipe {
  explicit StoredRecipe(const RunFolder& folder);

  Recipe recipe;
  std::map<std::string, config::Value> defaults, values;  // by key
};

}  // namespace tessera::train
