#pragma once

#include "config/config.h"

#include <nlohmann/json.hpp>

#include <filesystem>
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

// What README.md in a model folder says beside the options. No times or paths: equal runs write
// equal bytes.
struct ModelCard {
  std::string title = "A model of tessera";
  std::string description = {};  // a sentence or two: what it does
  std::string data = {};         // what it was trained on, with its fingerprint
  std::vector<std::pair<std::string, std::string>> facts = {};  // ("updates", "6500"), ...
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
