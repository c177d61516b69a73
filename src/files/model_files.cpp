#include "files/model_files.h"

#include "base/require.h"
#include "files/files.h"
#include "files/json_file.h"
#include "files/output_folder.h"
#include "files/stored_languages.h"

#include <tessera/version.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// 2: weights in 8 bits. Only folders that have them are of that format.
constexpr int64_t kPlainFormat = 1, kRoundedFormat = 2;

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

Json json_of(const config::Value& value) {
  return std::visit(
      [](const auto& content) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::monostate>)
          return nullptr;
        else
          return content;
      },
      value);
}

Json parse_model_config(const fs::path& folder) {
  const fs::path path = folder / kModelConfigFile;
  try {
    Json json = read_json(path);
    require(json.is_object() && json.contains("format"), "'{}' is not a model's configuration",
            path.string());
    const auto format = json.at("format").get<int64_t>();
    if (format > kRoundedFormat)
      throw Error(fmt::format("'{}' is of format {}, newer than this tessera {} knows ({})",
                              path.string(), format, version(), kRoundedFormat),
                  "use the version of tessera that wrote it, or a later one");
    json.at("kind").get<std::string>();
    require(json.at("options").is_object(), "'{}' is broken: its options are not an object",
            path.string());
    return json;
  } catch (const Json::exception& error) {
    throw Error(fmt::format("'{}' is broken: {}", path.string(), json_problem(error)));
  }
}

void mark_as_rounded(Json& config) {
  config["format"] = kRoundedFormat;
}

void require_exact_weights(const fs::path& folder, std::string_view purpose) {
  if (parse_model_config(folder).at("format").get<int64_t>() != kRoundedFormat) return;
  throw Error(fmt::format("the weights in '{}' are rounded to 8 bits: they are for generating, not "
                          "for {}",
                          folder.string(), purpose),
              "name the model or run that it was exported from");
}

ModelAbout about_model(const fs::path& folder) {
  const Json json = parse_model_config(folder);
  const std::string path = (folder / kModelConfigFile).string();
  ModelAbout about;
  try {
    about.languages = stored_languages(json);
    if (json.contains(kAttribution)) json.at(kAttribution).get_to(about.attribution);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("'{}' is broken: {}", path, json_problem(error)));
  } catch (const Error& error) {
    throw Error(fmt::format("'{}' is broken: {}", path, error.what()));
  }
  return about;
}

std::string kind_of_model(const fs::path& folder) {
  require_model_folder(folder);
  return parse_model_config(folder).at("kind");
}

void write_model_config(const fs::path& folder, std::string_view kind, const Json& facts,
                        const config::Schema& options) {
  Json stored = Json::object();
  for (const auto& [key, value] : options.values()) stored[key] = json_of(value);
  Json json{{"format", kPlainFormat}, {"kind", kind}};
  json.update(facts);
  json["options"] = stored;
  write_file_atomically(folder / kModelConfigFile, json.dump(1) + "\n");
}

Json read_model_config(const fs::path& folder, std::string_view kind, config::Schema& options) {
  const fs::path path = folder / kModelConfigFile;
  Json json = parse_model_config(folder);
  const std::string found = json.at("kind");
  if (found != kind)
    throw Error(
        fmt::format("'{}' describes a model of kind '{}', not '{}'", path.string(), found, kind),
        found == "image"         ? "`tessera sample` makes images with it"
        : found == "autoencoder" ? "`tessera prepare --images codes --with` makes codes with it"
                                 : "`tessera generate` writes text with it");
  for (const auto& [key, value] : json.at("options").items())
    options.set(key, to_value(value, fmt::format("'{}': '{}'", path.string(), key)), path.string());
  try {
    options.finish();
  } catch (const UsageError& error) {  // the folder is wrong, not the command line
    throw Error(error.what(), error.hint());
  }
  return json;
}

void write_model_card(const fs::path& folder, const ModelCard& card, const std::string& summary,
                      const std::string& use, const config::Schema& options) {
  std::string text = fmt::format("# {}\n\n", card.title);
  if (!card.description.empty()) text += card.description + "\n\n";
  text += summary + "\n";
  auto facts = card.facts;
  if (!card.data.empty()) facts.insert(facts.begin(), {"data", card.data});
  if (!facts.empty()) text += "\n| training | |\n| --- | --- |\n";
  for (const auto& [name, value] : facts) text += fmt::format("| {} | {} |\n", name, value);
  text += fmt::format("\n## Use\n\n{}\n## Options\n\n```toml\n{}```\n", use, options.dump());
  write_file_atomically(folder / kModelCardFile, text);
}

std::vector<std::pair<std::string, std::string>> facts_of_card(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (!is_there(folder / kModelCardFile)) return facts;
  std::istringstream card(read_file(folder / kModelCardFile));
  bool within = false;
  for (std::string line; std::getline(card, line);) {
    if (line == "| training | |") within = true;
    if (!within || line.starts_with("| training |") || line.starts_with("| --- |")) continue;
    const size_t between = line.find(" | ");
    if (!line.starts_with("| ") || !line.ends_with(" |") || between + 3 > line.size() - 2) break;
    facts.emplace_back(line.substr(2, between - 2),
                       line.substr(between + 3, line.size() - 2 - (between + 3)));
  }
  return facts;
}

std::string section_of_card(const fs::path& folder, const std::string& title) {
  if (!is_there(folder / kModelCardFile)) return "";
  const std::string card = read_file(folder / kModelCardFile);
  const std::string heading = fmt::format("\n## {}\n\n", title);
  const size_t begin = card.find(heading);
  if (begin == card.npos) return "";
  const size_t text = begin + heading.size();
  return card.substr(text, std::min(card.find("\n## ", text), card.size()) - text);
}

std::set<std::string> other_model_files(const fs::path& folder) {
  static const std::set<std::string> known{
      kModelConfigFile, kModelWeightsFile, kModelCardFile,        kModelLicenceFile,
      "state.json",     "manifest.json",   "training.safetensors"};
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && !known.contains(entry.path().filename()))
      names.insert(entry.path().filename());
  return names;
}

fs::path place_of_new_model(const fs::path& folder) {
  const fs::path place = full_path(folder);
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(place, ignored)))
    throw Error(fmt::format("'{}' exists already", folder.string()),
                "remove it or choose another folder (--out)");
  return place;
}

bool is_model_folder(const fs::path& folder) {
  return is_there(folder / kModelConfigFile) && is_there(folder / kModelWeightsFile);
}

void require_model_folder(const fs::path& folder) {
  std::error_code ignored;
  require(fs::is_directory(folder, ignored), "there is no model folder '{}'", folder.string());
  for (const char* file : {kModelConfigFile, kModelWeightsFile})
    require(fs::exists(folder / file, ignored), "'{}' is not a model folder: it has no {}",
            folder.string(), file);
}

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
    // The target of a link, as the link may change before the model is read.
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

}  // namespace tessera
