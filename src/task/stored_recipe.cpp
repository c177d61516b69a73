#include "task/stored_recipe.h"

#include <tessera/base/error.h>

namespace tessera::task {

StoredRecipe::StoredRecipe(const train::RunFolder& folder) : recipe(domain_of(folder.config())) {
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

}  // namespace tessera::task
