#include "configuration_keys.h"

#include "config/config.h"
#include "flow/options.h"
#include "task/recipe.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::app {
namespace {

using Keys = std::map<std::string, ConfigurationKey>;

void add_values(std::vector<std::string>& values, const config::Option& option) {
  std::vector<std::string> more(option.names.begin(), option.names.end());
  if (option.kind == config::Kind::boolean) more = {"true", "false"};
  for (std::string& value : more)
    if (std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(std::move(value));
}

// A key that several kinds of recipes have takes the values of all.
void add(Keys& keys, const config::Schema& schema) {
  for (const auto& [name, value] : schema.values()) {
    const config::Option& option = *schema.find(name);
    ConfigurationKey& key = keys[name];
    key.name = name;
    if (key.help.empty()) key.help = option.help;
    key.path = option.kind == config::Kind::path;
    add_values(key.values, option);
  }
}

std::vector<ConfigurationKey> sorted(const Keys& keys) {
  std::vector<ConfigurationKey> result;
  for (const auto& [name, key] : keys) result.push_back(key);
  return result;
}

}  // namespace

std::vector<ConfigurationKey> recipe_keys() {
  using task::Domain, task::ImageKind;
  Keys keys;
  for (const auto& [domain, kind] : {std::pair(Domain::text, ImageKind::diffusion),
                                     std::pair(Domain::images, ImageKind::diffusion),
                                     std::pair(Domain::images, ImageKind::autoencoder)}) {
    task::Recipe recipe(domain, kind);
    config::Schema schema;
    declare(schema, recipe);
    add(keys, schema);
  }
  return sorted(keys);
}

std::vector<ConfigurationKey> flow_keys() {
  FlowOptions options;
  config::Schema schema;
  declare(schema, "flow.", options);
  Keys keys;
  add(keys, schema);
  return sorted(keys);
}

}  // namespace tessera::app
