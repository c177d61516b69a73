#include "task/recipe.h"

#include <set>

namespace tessera::task {
namespace {

void declare_domain(config::Schema& schema, Domain& domain) {
  schema.option("data.kind", domain, "what is learnt; it decides which other keys there are");
}

void declare_text(config::Schema& schema, Recipe& recipe) {
  declare_data(schema, recipe.text.data);
  model::declare(schema, recipe.text.model);
  train::declare(schema, recipe);
  declare_validation(schema, recipe.text);
  model::declare(schema, recipe.text.generate);
}

void declare_images(config::Schema& schema, Recipe& recipe) {
  declare_data(schema, recipe.image.data);
  imaging::declare(schema, recipe.image.model);
  train::declare(schema, recipe);
  declare_validation(schema, recipe.image.validation);
  imaging::declare(schema, recipe.image.sampling);
}

}  // namespace

Recipe::Recipe(Domain kind) : domain(kind) {
  if (domain == Domain::text) return;
  learner.adamw.beta2 = 0.99;
  learner.adamw.weight_decay = 0;
  learner.ema = 0.9999;
  schedule.kind = train::ScheduleKind::constant;
  schedule.learning_rate = 1e-4;
}

Domain domain_of(const std::filesystem::path& file, std::span<const std::string> overrides) {
  Domain domain = Domain::text;
  config::Schema schema;  // which knows one key, and whose complaints nobody hears
  declare_domain(schema, domain);
  schema.read_file(file);
  for (const std::string& assignment : overrides) schema.apply_override(assignment);
  const auto read = schema.read_so_far("data.kind");
  return read ? parse_name<Domain>(std::get<std::string>(*read)) : domain;
}

void declare(config::Schema& schema, Recipe& recipe) {
  declare_domain(schema, recipe.domain);
  recipe.domain == Domain::text ? declare_text(schema, recipe) : declare_images(schema, recipe);
}

bool may_change_on_resume(const std::string& key, const Recipe& recipe) {
  static const std::set<std::string> free{
      "data.dir",       "train.validate_sentences", "train.validate_samples", "train.show_images",
      "train.features", "train.statistics",         "train.validate_images"};
  // Scores must be of one kind, to be compared with those from before.
  if (key == "train.score") return false;
  if (key == "train.validate_sentences" && recipe.text.validate_sentences == 0)
    return recipe.text.score == TextScore::loss;
  if (key == "train.validate_samples") return recipe.image.validation.score == ImageScore::loss;
  return free.contains(key) || key.starts_with("generate.") || key.starts_with("sample.") ||
         key.starts_with("sampler.") || train::may_change_on_resume(key);
}

}  // namespace tessera::task
