#pragma once

#include "config/config.h"
#include "task/recipe.h"
#include "train/run_folder.h"

#include <filesystem>
#include <map>
#include <string>

namespace tessera::task {

// The configuration of a run, as stored in its folder. Throws Error if that is damaged.
struct StoredRecipe {
  explicit StoredRecipe(const train::RunFolder& folder);

  Recipe recipe;
  std::map<std::string, config::Value> defaults, values;  // by key
};

// The recipe as a run stores it. Paths are absolute, so that they hold wherever the run is used
// from.
//   run  its folder, which becomes the value of train.out
Recipe with_full_paths(Recipe recipe, const std::filesystem::path& run);

// The same as TOML.
std::string stored_text(Recipe recipe, const std::filesystem::path& run);

// The folder with the data of a run. Throws Error if there is none, with the ways to name another.
std::filesystem::path data_folder(const Recipe& recipe, const std::filesystem::path& run);

}  // namespace tessera::task
