#include "seq2seq/model_folder.h"

#include "base/numerals.h"
#include "base/require.h"
#include "files/files.h"
#include "files/json_file.h"
#include "files/own_file.h"
#include "files/stored_languages.h"
#include "files/unchanged_files.h"

#include <tessera/files/safetensors.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::seq2seq {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kKind = "seq2seq";

using Stored = StoredOptions<Seq2SeqOptions, GenerationOptions>;

// What config.json says.
struct ModelConfig {
  int64_t symbols = 0;
  std::vector<int64_t> undecodable;
  Stored options;

  explicit ModelConfig(const fs::path& folder);
};

ModelConfig::ModelConfig(const fs::path& folder) {
  const Json json = read_model_config(folder, kKind, options.schema);
  const std::string path = (folder / kModelConfigFile).string();
  try {
    json.at("symbols").get_to(symbols);
    json.at("undecodable").get_to(undecodable);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("'{}' is broken: {}", path, json_problem(error)));
  }
  require(symbols >= 1, "'{}' is broken: it says the model has {} symbols", path, symbols);
}

// A line about a model.
std::string summary_of(const Seq2Seq& model, const text::Tokenizer& tokenizer) {
  return fmt::format("A sequence-to-sequence model {}: {} parameters, {} symbols ({}, {} text).",
                     model.summary(), with_commas(model.parameters().count()),
                     with_commas(tokenizer.dictionary().size()), name_of(tokenizer.kind()),
                     tokenizer.raw() ? "raw" : "tokenised");
}

constexpr const char* kUse =
    "```\ntessera generate THIS_FOLDER < in.txt > out.txt\n```\n\n```cpp\n"
    "tessera::Translator translator(\"THIS_FOLDER\");\n"
    "std::string text = translator.translate(\"...\");\n```\n";

}  // namespace

void write_model_folder(const fs::path& folder, const Seq2Seq& model, const at::Tensor& weights,
                        const text::Tokenizer& tokenizer, const GenerationOptions& generation,
                        const ModelCard& card) {
  require(tokenizer.dictionary().size() == model.codebook().symbols(),
          "the dictionary has {} symbols and the model {}", tokenizer.dictionary().size(),
          model.codebook().symbols());
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw file_error("make the folder", folder, failure.value());
  const Stored options(model.options(), generation);
  refuse_link(folder / kModelWeightsFile);
  safetensors::save(folder / kModelWeightsFile, model.parameters().named(weights));
  if (const auto state = model.state(); !state.empty()) {
    refuse_link(folder / kModelStateFile);
    safetensors::save(folder / kModelStateFile, state);
  }
  tokenizer.save(folder);
  write_model_card(folder, card, summary_of(model, tokenizer), kUse, options.schema);
  Json facts{{"symbols", model.codebook().symbols()}, {"undecodable", model.undecodable()}};
  store_languages(facts, card.languages);
  write_model_config(folder, kKind, facts, options.schema);
}

LoadedModel load_model_folder(const fs::path& folder, at::Device device, nn::Precision precision) {
  require_model_folder(folder);
  require_unchanged_files(folder);
  const ModelConfig config(folder);
  text::Tokenizer tokenizer = text::Tokenizer::load(folder);
  require(tokenizer.dictionary().size() == config.symbols,
          "'{}': the dictionary has {} symbols and the model {}: they do not belong together",
          folder.string(), tokenizer.dictionary().size(), config.symbols);

  const safetensors::File weights(folder / kModelWeightsFile);
  try {
    auto model = make_seq2seq(config.options.model, config.symbols, config.undecodable, device,
                              precision, weights);
    if (!model->state().empty())
      model->restore(safetensors::File(folder / kModelStateFile), /*prefix=*/"");
    return {std::move(model), std::move(tokenizer), config.options.use};
  } catch (const Error& error) {
    throw Error(fmt::format("'{}': {}", (folder / kModelConfigFile).string(), error.what()),
                error.hint());
  }
}

LoadedModel load_model_folder(const fs::path& folder, at::Device device) {
  return load_model_folder(folder, device, nn::usual_precision(device));
}

void require_kind(const Seq2Seq& model, ModelKind kind, const fs::path& folder) {
  require(model.options().kind == kind,
          "the model in '{}' is of kind '{}', the recipe's of kind '{}'", folder.string(),
          name_of(model.options().kind), name_of(kind));
}

void require_probabilities(const Seq2Seq& model, const fs::path& folder) {
  if (model.has_probabilities()) return;
  throw Error(fmt::format("'{}' is a model of kind '{}': it has no probabilities of sentences",
                          folder.string(), name_of(model.options().kind)),
              "name an autoregressive one (trained with model.kind=ar)");
}

}  // namespace tessera::seq2seq
