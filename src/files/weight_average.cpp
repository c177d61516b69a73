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

// Files beside configuration and weights that belong to a model: dictionary, codes. Not what a
// checkpoint adds.
std::set<std::string> other_files(const fs::path& folder) {
  static const std::set<std::string> known{kModelConfigFile, kModelWeightsFile,
                                           "README.md",      "training.safetensors",
                                           "state.json",     "manifest.json"};
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && !known.contains(entry.path().filename()))
      names.insert(entry.path().filename());
  return names;
}

// Means of weights make sense only if the weights stand for the same things.
void require_alike(const fs::path& first, const fs::path& other) {
  const Json ours = parse_model_config(first), theirs = parse_model_config(other);
  std::set<std::string> different;
  for (const auto* json : {&ours, &theirs}) {
    const Json& them = json == &ours ? theirs : ours;
    for (const auto& [key, value] : json->items())
      if (key != "options" && them.value(key, Json()) != value) different.insert(key);
    for (const auto& [key, value] : json->at("options").items())
      if (!of_generation(key) && them.at("options").value(key, Json()) != value)
        different.insert(key);
  }
  require(different.empty(), "'{}' and '{}' cannot be averaged: they differ in {}", first.string(),
          other.string(), fmt::join(different, ", "));
  std::set<std::string> names = other_files(first);
  names.merge(other_files(other));
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

// The parts of the first model's card that are also true of the mean.
std::string card_of(const fs::path& first, const std::vector<std::string>& names) {
  std::error_code ignored;  // a model need not have one
  const std::string card =
      fs::exists(first / "README.md", ignored) ? read_file(first / "README.md") : "";
  const size_t use = std::min(card.find("## Use"), card.size());
  return fmt::format(
      "# A mean of models of tessera\n\nThe mean of the weights of {} models of one kind.\n\n"
      "| training | |\n| --- | --- |\n| averaged | {} |\n\n{}",
      names.size(), fmt::join(names, ", "), card.substr(use));
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
  const fs::path place = fs::absolute(out).lexically_normal();
  const fs::path whole = place.has_filename() ? place : place.parent_path();  // "out/"
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(whole, ignored)))
    throw Error(fmt::format("'{}' exists already", out.string()),
                "remove it or choose another folder (--out)");

  const fs::path& first = folders.front();
  safetensors::Tensors weights;
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    require_model_folder(folder);
    if (folder != first) require_alike(first, folder);
    add(weights, folder);
    names.push_back(name_of_folder(folder));
  }
  for (auto& [name, sum] : weights)
    sum = (sum / static_cast<double>(folders.size())).to(at::kFloat);

  AtomicFolder pending(whole.parent_path());
  safetensors::save(pending.path() / kModelWeightsFile, weights);
  for (const std::string& name : other_files(first))
    write_file_atomically(pending.path() / name, read_file(first / name));
  write_file_atomically(pending.path() / "README.md", card_of(first, names));
  write_file_atomically(pending.path() / kModelConfigFile, read_file(first / kModelConfigFile));
  pending.commit(whole.filename().string());
}

}  // namespace tessera
