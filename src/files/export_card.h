#pragma once

#include <tessera/base/languages.h>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

// What people say about a model that is passed on. All of it may be empty.
struct ExportCard {
  std::string title, description;  // of what it does
  // Sections of README.md, in Markdown.
  std::string use, scores, speed, training, limits, environment, licence;
  std::string attribution;             // one line that must go wherever the model goes
  std::filesystem::path licence_file;  // becomes LICENSE in the model's folder
  Languages languages;                 // of models that do not say
  std::vector<std::string> classes;    // of models of images: names in place of those of the data

  // Reads TOML files whose keys are the names of these fields; what a later file says counts.
  // languages = "de:en", licence_file is relative to its file. Throws UsageError, which names file
  // and key, for what is wrong with them.
  static ExportCard read(std::span<const std::filesystem::path> files);

  using Facts = std::vector<std::pair<std::string, std::string>>;

  // README.md: title, description and a table of facts; a section for every text there is; the
  // values of the recipe and of the options as TOML.
  //   about_training  facts that follow `training`
  std::string markdown(const Facts& facts, const Facts& about_training, const std::string& recipe,
                       const std::string& options) const;
};

}  // namespace tessera
