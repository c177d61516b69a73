#include "task/stored_recipe.h"

#include "files/output_folder.h"

#include <tessera/base/error.h>

#include <fmt/format.h>

#include <utility>

namespace tessera::task {

StoredRecipe::StoredRecipe(const train::RunFolder& folder) : recipe(recipe_for(folder.config())) {
  config::Schema schema;
  declare(schema, recipe);
  defaults = schema.values();
  try {
    schema.read_file(folder.config());
    schema.finish();
  } catch (const UsageError& error) {  // it is the folder that is wrong, not the command line
    throw Error(error.what(), error.hint());
  }
  values = schema.values();
}

Recipe with_full_paths(Recipe recipe, const std::filesystem::path& run) {
  recipe.run.out = run;
  for (std::filesystem::path* path :
       {&recipe.run.out, &recipe.run.init, &recipe.text.data.dir, &recipe.image.data.dir,
        &recipe.image.validation.features, &recipe.image.validation.statistics})
    if (!path->empty()) *path = full_path(*path);
  return recipe;
}

std::string stored_text(Recipe recipe, const std::filesystem::path& run) {
  recipe = with_full_paths(std::move(recipe), run);
  config::Schema schema;
  declare(schema, recipe);
  return schema.dump();
}

std::filesystem::path data_folder(const Recipe& recipe, const std::filesystem::path& run) {
  const std::filesystem::path folder =
      recipe.domain == Domain::text ? recipe.text.data.folder(run) : recipe.image.data.dir;
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return folder;
  throw Error(fmt::format("the data of the run '{}' is not in '{}': there is no such folder{}",
                          run.string(), folder.string(),
                          folder.is_relative() ? " (a path from where the run was begun)" : ""),
              "name the folder it is in now: --data DIR (to go on with training: data.dir=DIR)");
}

}  // namespace tessera::task
