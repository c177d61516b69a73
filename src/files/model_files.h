#pragma once

#include "config/config.h"

#include <tessera/base/languages.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What the folders of all kinds of models have in common:
//   config.json        format, kind, facts of that kind, options
//   model.safetensors  the weights, by name
//   state.safetensors  state beside the weights, by name, for models that have some
//   README.md          for people
namespace tessera {

constexpr const char* kModelConfigFile = "config.json";
constexpr const char* kModelWeightsFile = "model.safetensors";
constexpr const char* kModelStateFile = "state.safetensors";
constexpr const char* kModelCardFile = "README.md";
constexpr const char* kModelLicenceFile = "LICENSE";  // of models that were exported
constexpr const char* kAttribution = "attribution";   // key of config.json

// What README.md in a model folder says beside the options. No times or paths: equal runs write
// equal bytes.
struct ModelCard {
  std::string title = "A model of tessera";
  std::string description = {};  // a sentence or two: what it does
  std::string data = {};         // what it was trained on, with its fingerprint
  std::vector<std::pair<std::string, std::string>> facts = {};  // ("updates", "6500"), ...
  Languages languages = {};                                     // goes into config.json, too
};

// What config.json says about a model beside how to read it. Absent in older folders.
struct ModelAbout {
  Languages languages = {};
  std::string attribution = {};  // a line that must go wherever the model goes; empty: none
};

// The options of a model and of its use, bound to their keys by the declare() of each.
template <class Model, class Use>
struct StoredOptions {
  Model model;
  Use use;
  config::Schema schema;

  explicit StoredOptions(const Model& model_options = {}, const Use& use_options = {})
      : model(model_options), use(use_options) {
    declare(schema, model);
    declare(schema, use);
  }
  StoredOptions(const StoredOptions&) = delete;
  StoredOptions& operator=(const StoredOptions&) = delete;
};

// An option's value as JSON: null for none.
nlohmann::ordered_json json_of(const config::Value& value);

// The place of a folder that is about to be made: with a parent and a name. Throws Error if there
// is something already.
std::filesystem::path place_of_new_model(const std::filesystem::path& folder);

// Whether a folder looks like a model folder.
bool is_model_folder(const std::filesystem::path& folder);

// The model folder to load.
//   run_or_model  a model folder, or the folder of a run: its checkpoints are model folders
//   checkpoint    of a run: "best", "last" or a step; empty: best if there is one, else last
// Throws Error if there is none, UsageError for a checkpoint of a model folder.
std::filesystem::path find_model_folder(const std::filesystem::path& run_or_model,
                                        const std::string& checkpoint = "");

// Throws Error for a folder that is missing or lacks a file.
void require_model_folder(const std::filesystem::path& folder);

// "seq2seq", "image", "autoencoder": the kind of the model in a folder. Throws Error if there is
// none.
std::string kind_of_model(const std::filesystem::path& folder);

// config.json as it is. Throws Error if we do not know its format.
nlohmann::ordered_json parse_model_config(const std::filesystem::path& folder);

// Says in a configuration that weights are in 8 bits. Older programs refuse such a folder.
void mark_as_rounded(nlohmann::ordered_json& config);
// Throws Error if they are: "... not for PURPOSE".
void require_exact_weights(const std::filesystem::path& folder, std::string_view purpose);

// Throws Error if config.json is broken.
ModelAbout about_model(const std::filesystem::path& folder);

// The facts about the training in the card of a folder, as ModelCard has them, "data" among them;
// none if there is no card, or if people have written it anew.
std::vector<std::pair<std::string, std::string>> facts_of_card(const std::filesystem::path& folder);

// A section of that card without its title; nothing if there is none.
std::string section_of_card(const std::filesystem::path& folder, const std::string& title);

// Names of the files that a model needs beside config.json and its weights: dictionary, codes,
// state. Not what a checkpoint adds, and nothing for people.
std::set<std::string> other_model_files(const std::filesystem::path& folder);

// Writes config.json.
//   facts  what a model of that kind must know beside its options
void write_model_config(const std::filesystem::path& folder, std::string_view kind,
                        const nlohmann::ordered_json& facts, const config::Schema& options);

// Reads it: fills the fields the schema is bound to, and returns everything else. Throws Error for
// a file that is broken, of a newer format or of another kind.
nlohmann::ordered_json read_model_config(const std::filesystem::path& folder, std::string_view kind,
                                         config::Schema& options);

// Writes README.md.
//   summary  a line about this model;  use  how to use it, as Markdown
void write_model_card(const std::filesystem::path& folder, const ModelCard& card,
                      const std::string& summary, const std::string& use,
                      const config::Schema& options);

}  // namespace tessera
