#include "model/model_folder.h"

#include "base/files.h"
#include "base/log.h"
#include "base/require.h"

#include <tessera/base/safetensors.h>
#include <tessera/version.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace tessera::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kFormat = 1;
constexpr std::string_view kKind = "seq2seq";
constexpr const char* kConfigFile = "config.json";
constexpr const char* kWeightsFile = "model.safetensors";

// ---- options as JSON

Json to_json(const config::Value& value) {
  return std::visit(
      [](const auto& content) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::monostate>)
          return nullptr;
        else
          return content;
      },
      value);
}

config::Value to_value(const Json& json, const std::string& what) {
  if (json.is_null()) return std::string("none");
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return json.get<uint64_t>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const auto all = [&](const auto& is) { return std::all_of(json.begin(), json.end(), is); };
  if (json.is_array() && all([](const Json& item) { return item.is_number_integer(); }))
    return json.get<std::vector<int64_t>>();
  if (json.is_array() && all([](const Json& item) { return item.is_number(); }))
    return json.get<std::vector<double>>();
  if (json.is_array() && all([](const Json& item) { return item.is_string(); }))
    return json.get<std::vector<std::string>>();
  throw Error(fmt::format("{} has a value no option can have", what));
}

// The options of a model, bound to their keys.
struct StoredOptions {
  Seq2SeqOptions model;
  GenerationOptions generation;
  config::Schema schema;

  StoredOptions() { bind(); }
  StoredOptions(const Seq2SeqOptions& model_options, const GenerationOptions& generation_options)
      : model(model_options), generation(generation_options) {
    bind();
  }
  StoredOptions(const StoredOptions&) = delete;
  StoredOptions& operator=(const StoredOptions&) = delete;

 private:
  void bind() {
    declare(schema, model);
    declare(schema, generation);
  }
};

// ---- config.json

struct ModelConfig {
  int64_t symbols = 0;
  std::vector<int64_t> undecodable;
  StoredOptions options;

  explicit ModelConfig(const fs::path& path);
};

ModelConfig::ModelConfig(const fs::path& path) {
  const std::string text = read_file(path);
  Json json;
  try {
    json = Json::parse(text);
    require(json.is_object() && json.contains("format"), "'{}' is not a model's configuration",
            path.string());
    const auto format = json.at("format").get<int64_t>();
    if (format > kFormat)
      throw Error(fmt::format("'{}' is of format {}, newer than this tessera {} knows ({})",
                              path.string(), format, version(), kFormat),
                  "use the version of tessera that wrote it, or a later one");
    const auto kind = json.at("kind").get<std::string>();
    require(kind == kKind, "'{}' describes a model of kind '{}', not '{}'", path.string(), kind,
            kKind);
    json.at("symbols").get_to(symbols);
    json.at("undecodable").get_to(undecodable);
    const Json& stored = json.at("options");
    require(stored.is_object(), "'{}' is broken: its options are not an object", path.string());
    for (const auto& [key, value] : stored.items())
      options.schema.set(key, to_value(value, fmt::format("'{}': '{}'", path.string(), key)),
                         path.string());
  } catch (const Json::exception& error) {
    throw Error(fmt::format("'{}' is broken: {}", path.string(), error.what()));
  }
  require(symbols >= 1, "'{}' is broken: it says the model has {} symbols", path.string(), symbols);
  try {
    options.schema.finish();
  } catch (const UsageError& error) {  // it is the folder that is wrong, not the command line
    throw Error(error.what(), error.hint());
  }
}

std::string config_text(const Seq2Seq& model, const GenerationOptions& generation) {
  const StoredOptions options(model.options(), generation);
  Json stored = Json::object();
  for (const auto& [key, value] : options.schema.values()) stored[key] = to_json(value);
  const Json json = {{"format", kFormat},
                     {"kind", kKind},
                     {"symbols", model.codebook().symbols()},
                     {"undecodable", model.undecodable()},
                     {"options", stored}};
  return json.dump(1) + "\n";
}

// ---- README.md

std::string with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string card_text(const Seq2Seq& model, const text::Tokenizer& tokenizer,
                      const GenerationOptions& generation, const ModelCard& card) {
  const Seq2SeqOptions& options = model.options();
  std::string text = fmt::format("# {}\n\n", card.title);
  if (!card.description.empty()) text += card.description + "\n\n";
  const std::string how =
      options.kind == ModelKind::diffusion
          ? fmt::format("of boundary-conditional diffusion (trajectory {}, r = {})",
                        name_of(options.process.trajectory.kind), options.process.r)
          : "that writes from left to right";
  text += fmt::format("A sequence-to-sequence model {}: {} parameters, {} symbols ({}, {} text).\n",
                      how, with_commas(model.parameters().count()),
                      with_commas(tokenizer.dictionary().size()), name_of(tokenizer.kind()),
                      tokenizer.raw() ? "raw" : "tokenised");
  auto facts = card.facts;
  if (!card.data.empty()) facts.insert(facts.begin(), {"data", card.data});
  if (!facts.empty()) text += "\n| training | |\n| --- | --- |\n";
  for (const auto& [name, value] : facts) text += fmt::format("| {} | {} |\n", name, value);
  text +=
      "\n## Use\n\n```\ntessera generate THIS_FOLDER < in.txt > out.txt\n```\n\n```cpp\n"
      "tessera::Translator translator(\"THIS_FOLDER\");\n"
      "std::string text = translator.translate(\"...\");\n```\n";
  StoredOptions stored(options, generation);
  text += fmt::format("\n## Options\n\n```toml\n{}```\n", stored.schema.dump());
  return text;
}

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
  safetensors::save(folder / kWeightsFile, model.parameters().named(weights));
  tokenizer.save(folder);
  write_file_atomically(folder / "README.md", card_text(model, tokenizer, generation, card));
  write_file_atomically(folder / kConfigFile, config_text(model, generation));
}

LoadedModel load_model_folder(const fs::path& folder, at::Device device, nn::Precision precision) {
  std::error_code ignored;
  require(fs::is_directory(folder, ignored), "there is no model folder '{}'", folder.string());
  for (const char* file : {kConfigFile, kWeightsFile})
    require(fs::exists(folder / file, ignored), "'{}' is not a model folder: it has no {}",
            folder.string(), file);
  const ModelConfig config(folder / kConfigFile);
  text::Tokenizer tokenizer = text::Tokenizer::load(folder);
  require(tokenizer.dictionary().size() == config.symbols,
          "'{}': the dictionary has {} symbols and the model {}: they do not belong together",
          folder.string(), tokenizer.dictionary().size(), config.symbols);

  const safetensors::File weights(folder / kWeightsFile);
  try {
    auto model = make_seq2seq(config.options.model, config.symbols, config.undecodable, device,
                              precision, /*seed=*/0);
    model->parameters().read(weights, "", model->parameters().values());
    model->refresh();
    return {std::move(model), std::move(tokenizer), config.options.generation};
  } catch (const Error& error) {
    throw Error(fmt::format("'{}': {}", folder.string(), error.what()), error.hint());
  }
}

LoadedModel load_model_folder(const fs::path& folder, at::Device device) {
  return load_model_folder(folder, device, generation_precision(device));
}

const Autoregressive& require_autoregressive(const Seq2Seq& model, const fs::path& folder) {
  const auto* result = dynamic_cast<const Autoregressive*>(&model);
  if (result == nullptr)
    throw Error(fmt::format("'{}' is a model of kind '{}': it has no probabilities of sentences",
                            folder.string(), name_of(model.options().kind)),
                "name an autoregressive one (trained with model.kind=ar)");
  return *result;
}

nn::Precision generation_precision(at::Device device) {
  return device.is_cuda() ? nn::Precision::bfloat16 : nn::Precision::float32;
}

bool is_model_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kConfigFile, ignored) && fs::exists(folder / kWeightsFile, ignored);
}

namespace {

// The checkpoints of a run, oldest first.
std::vector<fs::path> step_folders(const fs::path& checkpoints) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(checkpoints, failure))
    if (entry.path().filename().string().starts_with("step-") && is_model_folder(entry.path()))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

fs::path find_model_folder(const fs::path& run_or_model, const std::string& checkpoint) {
  std::error_code ignored;
  require(fs::is_directory(run_or_model, ignored), "there is no folder '{}'",
          run_or_model.string());
  if (is_model_folder(run_or_model)) {
    require_option(checkpoint.empty(),
                   "'{}' is a model folder: it has no checkpoints to choose from",
                   run_or_model.string());
    return run_or_model;
  }
  const bool is_step =
      !checkpoint.empty() && std::all_of(checkpoint.begin(), checkpoint.end(),
                                         [](unsigned char c) { return std::isdigit(c); });
  require_option(checkpoint.empty() || checkpoint == "best" || checkpoint == "last" || is_step,
                 "a checkpoint is 'best', 'last' or a step, got '{}'", checkpoint);
  const fs::path checkpoints = run_or_model / "checkpoints";
  const std::vector<fs::path> steps = step_folders(checkpoints);
  std::vector<fs::path> places;
  if (is_step) places = {checkpoints / fmt::format("step-{:0>8}", checkpoint)};
  if (checkpoint.empty() || checkpoint == "best") places.push_back(run_or_model / "best");
  if (checkpoint.empty() || checkpoint == "last") {
    places.push_back(run_or_model / "last");
    // A run that was copied may have lost its links.
    if (!steps.empty()) places.push_back(steps.back());
  }
  for (const fs::path& place : places) {
    if (!is_model_folder(place)) continue;
    // What a link stands for: it may point elsewhere before the model is read.
    return fs::is_symlink(place) ? place.parent_path() / fs::read_symlink(place) : place;
  }
  if (steps.empty())
    throw Error(
        fmt::format("'{}' holds no model: neither config.json and model.safetensors nor "
                    "checkpoints",
                    run_or_model.string()));
  std::vector<std::string> names;
  for (const fs::path& step : steps) names.push_back(step.filename().string());
  throw Error(fmt::format("'{}' has no checkpoint '{}'", run_or_model.string(), checkpoint),
              fmt::format("there are: {}", fmt::join(names, ", ")));
}

}  // namespace tessera::model
