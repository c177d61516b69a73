#include "model/weight_average.h"

#include "base/files.h"
#include "base/require.h"
#include "model/model_folder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/ranges.h>

#include <map>
#include <string>

namespace tessera::model {
namespace {

namespace fs = std::filesystem;

std::map<std::string, config::Value> option_values(Seq2SeqOptions options) {
  config::Schema schema;
  declare(schema, options);
  return schema.values();
}

std::string file_or_nothing(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? read_file(path) : std::string();
}

// Means of weights make sense only where they stand for the same things.
void require_alike(const LoadedModel& first, const fs::path& first_folder, const LoadedModel& other,
                   const fs::path& folder) {
  const auto ours = option_values(first.model->options());
  std::vector<std::string> different;
  for (const auto& [key, value] : option_values(other.model->options()))
    if (value != ours.at(key)) different.push_back(key);
  require(different.empty(), "'{}' and '{}' cannot be averaged: they differ in {}",
          first_folder.string(), folder.string(), fmt::join(different, ", "));
  for (const char* file : {"dict.txt", "tokenizer.json", "codes.bpe"})
    require(file_or_nothing(first_folder / file) == file_or_nothing(folder / file),
            "'{}' and '{}' cannot be averaged: their files {} differ", first_folder.string(),
            folder.string(), file);
  require(first.model->undecodable() == other.model->undecodable(),
          "'{}' and '{}' cannot be averaged: they decode to different symbols",
          first_folder.string(), folder.string());
}

// The folder's own name, also where it was given as "run/last/" or ".": cards hold no paths.
std::string name_of_folder(const fs::path& folder) {
  std::error_code failure;
  const fs::path whole = fs::canonical(folder, failure);
  return (failure ? folder : whole).filename().string();
}

LoadedModel load(const fs::path& folder) {
  return load_model_folder(folder, at::kCPU, nn::Precision::float32);
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

  const c10::NoGradGuard no_grad;
  const LoadedModel first = load(folders.front());
  at::Tensor sum = first.model->parameters().values().to(at::kDouble);
  std::vector<std::string> names{name_of_folder(folders.front())};
  for (size_t k = 1; k < folders.size(); ++k) {
    const LoadedModel next = load(folders[k]);
    require_alike(first, folders.front(), next, folders[k]);
    sum += next.model->parameters().values();
    names.push_back(name_of_folder(folders[k]));
  }
  const at::Tensor mean = (sum / static_cast<double>(folders.size())).to(at::kFloat);

  AtomicFolder pending(whole.parent_path());
  write_model_folder(pending.path(), *first.model, mean, first.tokenizer, first.generation,
                     {.title = "A sequence-to-sequence model of tessera",
                      .description = fmt::format(
                          "The mean of the weights of {} models of one kind.", folders.size()),
                      .facts = {{"averaged", fmt::format("{}", fmt::join(names, ", "))}}});
  pending.commit(whole.filename().string());
}

}  // namespace tessera::model
