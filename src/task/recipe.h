#pragma once

#include "config/config.h"
#include "task/image_options.h"
#include "task/text_options.h"
#include "train/options.h"

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::task {

// What is learnt.
enum class Domain { text, images };

// All options of a training run. The domain decides which of text and image is used.
struct Recipe : train::TrainingOptions {
  Domain domain = Domain::text;
  TextOptions text = {};
  ImageOptions image = {};

  // With the defaults of that domain and, of images, of that kind of model.
  explicit Recipe(Domain domain = Domain::text, ImageKind kind = ImageKind::diffusion);

  bool makes_its_data() const { return text.data.source != TextSource::none; }
};

// Where a recipe is read from: a text in the format of a file, and files, laid over each other in
// this order. Usually one is for the data and the next for the method.
struct RecipeSource {
  RecipeSource() = default;
  RecipeSource(std::filesystem::path file) : files{std::move(file)} {}
  RecipeSource(std::vector<std::filesystem::path> the_files) : files(std::move(the_files)) {}

  std::string text = {};
  std::vector<std::filesystem::path> files = {};

  void read(config::Schema& schema) const;
};

// A recipe that is about to be read from `source`, with overrides: of its domain and kind of model
// (keys data.kind and, of images, model.kind), with nothing else read yet. Text if that cannot be
// told: reading the recipe then reports what is wrong.
Recipe recipe_for(const RecipeSource& source, std::span<const std::string> overrides = {});

// The same with the defaults of its preset (key generate.preset). Throws UsageError for a preset of
// an autoregressive model, and for a folder in place of a file.
Recipe begin_recipe(const RecipeSource& source, std::span<const std::string> overrides = {});

// Overrides for a run that has all its keys already: a preset is replaced by the keys it sets,
// which come before the other overrides.
std::vector<std::string> spelt_out(std::span<const std::string> overrides);

// The keys of the recipe's domain and kind of model.
void declare(config::Schema& schema, Recipe& recipe);

}  // namespace tessera::task

template <>
struct tessera::EnumNames<tessera::task::Domain> {
  using Domain = tessera::task::Domain;
  static constexpr std::string_view what = "kind of data";
  static constexpr std::array<std::pair<Domain, std::string_view>, 2> values{
      {{Domain::text, "text"}, {Domain::images, "images"}}};
};
