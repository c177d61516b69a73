#include "files/weight_average.h"

#include "base/require.h"
#include "files/files.h"
#include "files/model_files.h"

#include <tessera/files/safetensors.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Options of how a model is used; they do not make it a different model.
bool of_generation(const std::string& key) {
  return key.starts_with("generate.") || key.starts_with("sampler.") || key.starts_with("sample.");
}

// What config.json says for people; older folders lack it.
bool of_people(const std::string& key) {
  return key == "languages" || key == kAttribution;
}

// Means of weights make sense only if the weights stand for the same things.
void require_alike(const fs::path& first, const fs::path& other) {
  const Json ours = parse_model_config(first), theirs = parse_model_config(other);
  std::set<std::string> different;
  for (const auto* json : {&ours, &theirs}) {
    const Json& them = json == &ours ? theirs : ours;
    for (const auto& [key, value] : json->items())
      if (key != "options" && !of_people(key) && them.value(key, Json()) != value)
        different.insert(key);
    for (const auto& [key, value] : json->at("options").items())
      if (!of_generation(key) && them.at("options").value(key, Json()) != value)
        different.insert(key);
  }
  require(different.empty(), "'{}' and '{}' cannot be averaged: they differ in {}", first.string(),
          other.string(), fmt::join(different, ", "));
  std::set<std::string> names = other_model_files(first);
  names.merge(other_model_files(other));
  for (const std::string& name : names) {
    const bool both = fs::exists(first / name) && fs::exists(other / name);
    if (both && read_file(first / name) == read_file(other / name)) continue;
    throw Error(fmt::format("'{}' and '{}' cannot be averaged: their files {} differ",
                            first.string(), other.string(), name),
                name == kModelStateFile ? "it holds what was learnt beside the weights, such as a "
                                          "schedule of noise, which has no mean"
                                        : "");
  }
}

// The folder's own name, also if it was given as "run/last/" or ".": cards hold no paths.
std::string name_of_folder(const fs::path& folder) {
  std::error_code failure;
  const fs::path whole = fs::canonical(folder, failure);
  return (failure ? folder : whole).filename().string();
}

// The same with its title, if there is one.
std::string titled_section(const fs::path& folder, const std::string& title) {
  const std::string text = section_of_card(folder, title);
  return text.empty() ? "" : fmt::format("\n## {}\n\n{}", title, text);
}

// The parts of the first model's card that are also true of the mean.
std::string card_of(const fs::path& first, const std::vector<std::string>& names) {
  std::string facts;
  for (const auto& [name, value] : facts_of_card(first))
    if (name != "updates" && name != "averaged") facts += fmt::format("| {} | {} |\n", name, value);
  return fmt::format(
      "# A mean of models of tessera\n\nThe mean of the weights of {} models of one kind.\n\n"
      "| training | |\n| --- | --- |\n| averaged | {} |\n{}{}{}{}",
      names.size(), fmt::join(names, ", "), facts, titled_section(first, "Use"),
      titled_section(first, "Licence"), titled_section(first, "Options"));
}

void add(safetensors::Tensors& sums, const fs::path& folder) {
  const safetensors::File file(folder / kModelWeightsFile);
  const auto tensors = file.tensors();
  if (sums.empty())
    for (const auto& [name, tensor] : tensors) sums[name] = at::zeros_like(tensor, at::kDouble);
  require(tensors.size() == sums.size(), "'{}' has other weights than the first model",
          folder.string());
  for (auto& [name, sum] : sums) {
    const auto found = tensors.find(name);
    require(found != tensors.end() && found->second.sizes() == sum.sizes(),
            "'{}' has other weights than the first model: see '{}'", folder.string(), name);
    sum += found->second;
  }
}

}  // namespace

void average_models(const std::vector<fs::path>& folders, const fs::path& out) {
  require(!folders.empty(), "there is no model to average");
  const fs::path place = place_of_new_model(out);
  const fs::path& first = folders.front();
  safetensors::Tensors weights;
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    require_model_folder(folder);
    require_exact_weights(folder, "averaging");
    if (folder != first) require_alike(first, folder);
    add(weights, folder);
    names.push_back(name_of_folder(folder));
  }
  for (auto& [name, sum] : weights)
    sum = (sum / static_cast<double>(folders.size())).to(at::kFloat);

  AtomicFolder pending(place.parent_path());
  safetensors::save(pending.path() / kModelWeightsFile, weights);
  for (const std::string& name : other_model_files(first))
    write_file_atomically(pending.path() / name, read_file(first / name));
  if (is_there(first / kModelLicenceFile))
    write_file_atomically(pending.path() / kModelLicenceFile, read_file(first / kModelLicenceFile));
  write_file_atomically(pending.path() / kModelCardFile, card_of(first, names));
  write_file_atomically(pending.path() / kModelConfigFile, read_file(first / kModelConfigFile));
  pending.commit(place.filename().string());
}

}  // namespace tessera
