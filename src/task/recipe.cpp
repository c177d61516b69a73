#include "task/recipe.h"

#include "base/require.h"
#include "train/run_folder.h"

#include <fmt/format.h>

#include <optional>

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
  schema.changeable(
      [&] { seq2seq::declare(schema, recipe.text.generate, recipe.text.model.kind); });
}

void declare_images(config::Schema& schema, Recipe& recipe) {
  schema.option("model.kind", recipe.image.kind,
                "what is learnt from images: to make new ones (diffusion), or codes that stand for "
                "them (autoencoder); decides which other keys exist");
  declare_data(schema, recipe.image.data);
  if (recipe.image.kind == ImageKind::autoencoder) {
    image_model::declare(schema, recipe.image.autoencoder);
    train::declare(schema, recipe);
    declare_autoencoder_validation(schema, recipe.image);
    return;
  }
  image_model::declare(schema, recipe.image.model);
  train::declare(schema, recipe);
  declare_validation(schema, recipe.image.validation);
  schema.changeable([&] {
    image_model::declare(schema, recipe.image.sampling, &recipe.image.model.coding.kind);
  });
}

}  // namespace

Recipe::Recipe(Domain the_domain, ImageKind kind) : domain(the_domain) {
  image.kind = kind;
  if (domain == Domain::text) return;
  // The averaged weights of an autoencoder are used with the codes as they are.
  const bool codes = kind == ImageKind::autoencoder;
  learner.adamw.beta2 = 0.99;
  learner.adamw.weight_decay = 0;
  learner.ema = codes ? 0.99 : 0.9999;
  schedule.kind = train::ScheduleKind::constant;
  schedule.learning_rate = codes ? 1e-3 : 1e-4;
}

namespace {

void require_no_folder(const std::filesystem::path& file) {
  if (std::error_code ignored; !std::filesystem::is_directory(file, ignored)) return;
  const std::string name = file.string();
  if (train::RunFolder::is_one(file))
    throw UsageError(fmt::format("'{}' is a run, not a recipe", name),
                     fmt::format("`tessera train --resume {}` goes on with it", name));
  throw UsageError(fmt::format("'{}' is a folder, not a recipe", name),
                   "name a recipe file (.toml), or a run to go on with: --resume RUN");
}

// The keys that decide which other keys there are, or what their defaults are.
constexpr const char *kDomain = "data.kind", *kModel = "model.kind", *kPreset = "generate.preset";

// The values of those keys in a file with overrides.
class Glance {
 public:
  Glance(const RecipeSource& source, std::span<const std::string> overrides) {
    schema_.option(kDomain, domain_, "");
    schema_.option(kModel, model_, "");
    schema_.option(kPreset, preset_, "");
    source.read(schema_);
    for (const std::string& assignment : overrides) schema_.apply_override(assignment);
  }

  // Nothing if the key is not set. Throws UsageError for an unknown name.
  template <class E>
  std::optional<E> at(const char* key) const {
    const auto read = schema_.read_so_far(key);
    return read ? std::optional(parse_name<E>(std::get<std::string>(*read))) : std::nullopt;
  }

  // If model.kind is not a kind of model of images, reading the recipe reports that.
  Recipe recipe() const {
    const Domain domain = at<Domain>(kDomain).value_or(Domain::text);
    const auto kind = schema_.read_so_far(kModel);
    const bool codes = kind == config::Value(std::string(name_of(ImageKind::autoencoder)));
    return Recipe(domain, codes ? ImageKind::autoencoder : ImageKind::diffusion);
  }

 private:
  Domain domain_{};
  std::string model_;  // a kind of model of the domain
  seq2seq::Preset preset_{};
  config::Schema schema_;  // of these keys only; its complaints are not shown
};

}  // namespace

void RecipeSource::read(config::Schema& schema) const {
  if (!text.empty()) schema.read_text(text, "the recipe");
  for (const std::filesystem::path& file : files) schema.read_file(file);
}

Recipe recipe_for(const RecipeSource& source, std::span<const std::string> overrides) {
  return Glance(source, overrides).recipe();
}

Recipe begin_recipe(const RecipeSource& source, std::span<const std::string> overrides) {
  for (const std::filesystem::path& file : source.files) require_no_folder(file);
  const Glance told(source, overrides);
  Recipe recipe = told.recipe();
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
  if (const auto preset = Glance(RecipeSource(), overrides).at<seq2seq::Preset>(kPreset)) {
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

}  // namespace tessera::task
