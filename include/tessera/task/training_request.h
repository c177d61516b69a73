#pragma once

#include <tessera/ranks/rank_options.h>

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
  // Of a recipe: goes on if its folder (train.out) holds a run already, instead of refusing. So a
  // command that is started again and again trains one run to its end.
  bool or_resume = false;
  // The place of this process among those that train together. Recipe, data and the run's folder
  // must be readable for all of them; process 0 alone writes.
  RankOptions ranks = {};
};

}  // namespace tessera
