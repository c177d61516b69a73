#include "task/recipe.h"

#include "base/require.h"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace tessera::task {
namespace {

void declare_domain(config::Schema& schema, Domain& domain) {
  schema.option("data.kind", domain, "text or images; decides which other keys exist");
}

void declare_text(config::Schema& schema, Recipe& recipe) {
  declare_data(schema, recipe.text.data);
  seq2seq::declare(schema, recipe.text.model);
  train::declare(schema, recipe);
  declare_validation(schema, recipe.text);
  seq2seq::declare(schema, recipe.text.generate);
}

void declare_images(config::Schema& schema, Recipe& recipe) {
  declare_data(schema, recipe.image.data);
  image_model::declare(schema, recipe.image.model);
  train::declare(schema, recipe);
  declare_validation(schema, recipe.image.validation);
  image_model::declare(schema, recipe.image.sampling);
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

namespace {

// The keys that decide which others there are, or what these are by default.
constexpr const char *kDomain = "data.kind", *kModel = "model.kind", *kPreset = "generate.preset";

// What a file with overrides says of those keys.
class Glance {
 public:
  Glance(const std::filesystem::path& file, std::span<const std::string> overrides) {
    schema_.option(kDomain, domain_, "");
    schema_.option(kModel, kind_, "");
    schema_.option(kPreset, preset_, "");
    if (!file.empty()) schema_.read_file(file);
    for (const std::string& assignment : overrides) schema_.apply_override(assignment);
  }

  // Nothing where it is not said. Throws UsageError for a name that is none.
  template <class E>
  std::optional<E> at(const char* key) const {
    const auto read = schema_.read_so_far(key);
    return read ? std::optional(parse_name<E>(std::get<std::string>(*read))) : std::nullopt;
  }

  Domain domain() const { return at<Domain>(kDomain).value_or(Domain::text); }

 private:
  Domain domain_{};
  seq2seq::ModelKind kind_{};
  seq2seq::Preset preset_{};
  config::Schema schema_;  // of these keys alone; nobody hears what it complains of
};

}  // namespace

Domain domain_of(const std::filesystem::path& file, std::span<const std::string> overrides) {
  return Glance(file, overrides).domain();
}

Recipe begin_recipe(const std::filesystem::path& file, std::span<const std::string> overrides) {
  const Glance told(file, overrides);
  Recipe recipe(told.domain());
  if (recipe.domain != Domain::text) return recipe;
  const auto preset = told.at<seq2seq::Preset>(kPreset);
  if (!preset) return recipe;
  require_option(
      seq2seq::has_presets(told.at<seq2seq::ModelKind>(kModel).value_or(seq2seq::ModelKind{})),
      "{} is not for autoregressive models: they have generate.beam", kPreset);
  seq2seq::use_preset(recipe.text.generate, *preset);
  return recipe;
}

std::vector<std::string> spelt_out(std::span<const std::string> overrides) {
  std::vector<std::string> result;
  if (const auto preset = Glance({}, overrides).at<seq2seq::Preset>(kPreset)) {
    seq2seq::GenerationOptions options;
    seq2seq::use_preset(options, *preset);
    result = {fmt::format("generate.lengths={}", options.lengths),
              fmt::format("generate.noises={}", options.noises),
              fmt::format("generate.selection={}", name_of(options.selection)),
              fmt::format("sampler.steps={}", options.sampler.steps)};
  }
  result.insert(result.end(), overrides.begin(), overrides.end());
  return result;
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
