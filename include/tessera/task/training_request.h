#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera {

// What to train: a new run from a recipe, or a run that continues. Set one of the first three.
//   {.recipe = "recipes/multi30k.toml", .methods = {"recipes/methods/vp.toml"}}
struct TrainingRequest {
  std::filesystem::path recipe = {};        // a file (.toml)
  std::string recipe_text = {};             // the contents of such a file
  std::filesystem::path resume = {};        // folder of a run
  std::vector<std::string> overrides = {};  // "train.steps=100": docs/options.md has the keys
  std::string device = "auto";              // auto, cpu, cuda or cuda:N
  uint64_t seed = 1;                        // used if the recipe has no train.seed
  // Methods: recipe files that are laid over the recipe in order, before the overrides.
  std::vector<std::filesystem::path> methods = {};
};

}  // namespace tessera
