#include "train/stored_recipe.h"

#include <tessera/base/error.h>

namespace tessera::train {

StoredRecipe::StoredRecipe(const RunFolder& folder) {
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

}  // namespace tessera::train
