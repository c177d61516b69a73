#pragma once

#include "task/recipe.h"
#include "train/run_folder.h"

#include <span>
#include <string>

namespace tessera::task {

// The recipe of a run that goes on, with overrides. A run keeps what it began with, but for keys
// that have no part in the mathematics. Throws UsageError that names those that cannot change.
//   seed  where the run has none
Recipe resumed_recipe(const train::RunFolder& folder, std::span<const std::string> overrides,
                      uint64_t seed);

// That recipe as far as it is carried out. A folder may come from anyone, and an extractor is code:
// it runs only where an override names it. Without it the run goes on without distances, with a
// warning; throws UsageError where these choose its best checkpoint.
Recipe without_unnamed_code(Recipe recipe, const train::RunFolder& folder,
                            std::span<const std::string> overrides);

// Updates of a run that its checkpoints hold.
int64_t updates_made(const train::RunFolder& folder);

}  // namespace tessera::task
