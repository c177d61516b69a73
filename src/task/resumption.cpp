#include "task/resumption.h"

#include "base/log.h"
#include "base/require.h"
#include "task/stored_recipe.h"
#include "train/checkpoints.h"
#include "train/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::task {
namespace {

// Throws UsageError for changes that a run cannot take.   before, schema: values then and now
void check_changes(const config::Schema& schema, const std::map<std::string, config::Value>& before,
                   const Recipe& recipe) {
  std::vector<std::string> refused;
  for (const auto& [key, value] : schema.values()) {
    const auto then = before.find(key);  // a model of another kind has other keys
    if (then == before.end() || (value != then->second && !schema.may_change(key)))
      refused.push_back(key);
  }
  require_option(
      refused.empty(),
      "a resumed run cannot change {}: it would no longer be the same run (start a new one, "
      "with train.init to begin from these weights)",
      fmt::join(refused, ", "));
  constexpr const char* kSteps = "train.steps";
  if (schema.values().at(kSteps) != before.at(kSteps) &&
      train::depends_on_total_steps(recipe.schedule))
    log::warn(
        "the schedule of the learning rate depends on {}: updates from here on follow the new "
        "schedule, earlier ones followed the old one",
        kSteps);
}

}  // namespace

Recipe resumed_recipe(const train::RunFolder& folder, std::span<const std::string> overrides,
                      uint64_t seed) {
  Recipe recipe = recipe_for(folder.config());
  recipe.run.seed = seed;
  config::Schema schema;
  declare(schema, recipe);
  schema.read_file(folder.config());
  schema.finish();
  const auto before = schema.values();
  for (const std::string& assignment : spelt_out(overrides)) schema.apply_override(assignment);
  schema.finish();
  check_changes(schema, before, recipe);
  return recipe;
}

Recipe continued_recipe(const train::RunFolder& folder, Recipe recipe) {
  const StoredRecipe stored(folder);
  require_option(recipe.domain == stored.recipe.domain,
                 "'{}' holds a run of another kind of data than the recipe",
                 folder.path().string());
  recipe = with_full_paths(std::move(recipe), folder.path());
  recipe.run.out = stored.recipe.run.out;  // the folder may have been moved
  config::Schema schema;
  declare(schema, recipe);
  check_changes(schema, stored.values, recipe);
  return recipe;
}

Recipe without_unnamed_code(Recipe recipe, const train::RunFolder& folder,
                            std::span<const std::string> overrides) {
  constexpr const char* kFeatures = "train.features";
  ImageValidation& validation = recipe.image.validation;
  const bool named =
      std::any_of(overrides.begin(), overrides.end(), [&](const std::string& assignment) {
        return config::Schema::overridden_key(assignment) == kFeatures;
      });
  if (recipe.domain != Domain::images || validation.samples == 0 || named) return recipe;
  const std::string untrusted = fmt::format(
      "the run measures a distance with the extractor '{}', which is code that a "
      "folder alone must not start",
      validation.features.string());
  const std::string cure =
      fmt::format("if you trust it: `tessera train --resume {} {}={}`", folder.path().string(),
                  kFeatures, validation.features.string());
  if (validation.score == ImageScore::distance) throw UsageError(untrusted, cure);
  log::warn("{}: it goes on without that distance; {}", untrusted, cure);
  validation.samples = 0;
  return recipe;
}

int64_t updates_made(const train::RunFolder& folder) {
  const auto checkpoints = train::Checkpoints(folder.path()).all();
  return checkpoints.empty() ? 0 : checkpoints.back().step;
}

}  // namespace tessera::task
