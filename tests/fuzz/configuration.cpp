#include "config/config.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "task/recipe.h"

namespace tessera::fuzz {

void fuzz_configuration(std::string_view input) {
  const auto path = put("recipe.toml", input);
  put("other.toml", "train.steps = 10\n");  // to be included
  attempt([&] {
    task::Recipe recipe = task::begin_recipe(path), again = recipe;
    config::Schema schema, second;
    task::declare(schema, recipe);
    schema.read_file(path);
    schema.finish();
    task::declare(second, again);
    second.read_text(schema.dump(), "dump");
    second.finish();
    expect(second.dump() == schema.dump(), "a configuration that was written is read as it was");
  });
  // The first lines as overrides.
  attempt([&] {
    task::Recipe recipe;
    config::Schema schema;
    task::declare(schema, recipe);
    for (int lines = 0; !input.empty() && lines < 10; ++lines) {
      const std::string_view line = input.substr(0, input.find('\n'));
      input.remove_prefix(std::min(input.size(), line.size() + 1));
      schema.apply_override(line);
    }
    schema.finish();
  });
}

}  // namespace tessera::fuzz
