#pragma once

#include "task/recipe.h"
#include "train/run_folder.h"

#include <span>
#include <string>

namespace tessera::task {

// The recipe of a resumed run, with overrides. Only keys that do not affect the mathematics may
// change. Throws UsageError that names keys that cannot change.
//   seed  used if the run has none
Recipe resumed_recipe(const train::RunFolder& folder, std::span<const std::string> overrides,
                      uint64_t seed);

// The same for a recipe that was begun before: it must be that of the run, but for keys that may
// change. Throws UsageError that names the others.
Recipe continued_recipe(const train::RunFolder& folder, Recipe recipe);

// The same recipe without code that no override names. A folder may come from anyone, and an
// extractor is code: it runs only if an override names it. Without it the run goes on without
// distances, with a warning; throws UsageError if distances choose its best checkpoint.
Recipe without_unnamed_code(Recipe recipe, const train::RunFolder& folder,
                            std::span<const std::string> overrides);

// The number of updates that the checkpoints of a run hold.
int64_t updates_made(const train::RunFolder& folder);

}  // namespace tessera::task
