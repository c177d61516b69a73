#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera {

// What to train: a new run as a recipe says, or a run that goes on. One of the first three.
//   {.recipe = "recipes/multi30k.toml", .methods = {"recipes/methods/vp.toml"}}
struct TrainingRequest {
  std::filesystem::path recipe = {};        // a file (.toml)
  std::string recipe_text = {};             // what such a file would say
  std::filesystem::path resume = {};        // folder of a run
  std::vector<std::string> overrides = {};  // "train.steps=100": docs/options.md has the keys
  std::string device = "auto";              // auto, cpu, cuda or cuda:N
  uint64_t seed = 1;                        // where the recipe has no train.seed
  // Recipe files that are laid over the recipe from left to right, before the overrides: methods.
  std::vector<std::filesystem::path> methods = {};
};

}  // namespace tessera
