#include "base/log.h"
#include "base/require.h"
#include "config/config.h"
#include "corpus/corpus.h"
#include "files/checkpoint_manifest.h"
#include "files/files.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/image_folder.h"
#include "inspection.h"
#include "process/boundary_statistics.h"
#include "process/rank_statistics.h"
#include "run_history.h"
#include "seq2seq/diffusion.h"
#include "seq2seq/model_folder.h"
#include "task/recipe.h"
#include "task/stored_recipe.h"
#include "train/checkpoints.h"
#include "train/run_folder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, config::Value>;

constexpr int64_t kRandomLabels = 10000;

// ---- options

Report options_report(const Values& defaults, const Values& values, bool all) {
  Report report = Report::object();
  for (const auto& [key, value] : values)
    if (all || value != defaults.at(key))
      report[key] = {{"value", json_of(value)}, {"default", json_of(defaults.at(key))}};
  return report;
}

Values values_of(seq2seq::Seq2SeqOptions model, seq2seq::GenerationOptions generation) {
  config::Schema schema;
  declare(schema, model);
  declare(schema, generation);
  return schema.values();
}

// ---- checkpoints

Report checkpoints_report(const fs::path& run) {
  Report report = Report::array();
  std::optional<double> best;
  const std::vector<train::Checkpoint> there = train::Checkpoints(run).all();
  for (const train::Checkpoint& each : there)
    if (each.score && (!best || *each.score > *best)) best = each.score;
  bool found = false;
  for (const train::Checkpoint& each : there) {
    uint64_t bytes = 0;
    try {
      bytes = CheckpointManifest::read(each.folder).total_size();
    } catch (const Error&) {
      continue;  // a training has removed it meanwhile
    }
    const bool is_best = best && !found && each.score == best;
    found = found || is_best;
    report.push_back({{"step", each.step},
                      {"score", each.score ? Report(*each.score) : Report(nullptr)},
                      {"bytes", bytes},
                      {"best", is_best},
                      {"last", each.step == there.back().step}});
  }
  return report;
}

bool has_checkpoint_folders(const fs::path& run) {
  std::error_code failure;
  for (fs::directory_iterator entry(run / "checkpoints", failure), end; !failure && entry != end;
       entry.increment(failure))
    if (entry->path().filename().string().starts_with("step-")) return true;
  return false;
}

// ---- the model

// The symbols that can be decoded, [n] int64.
at::Tensor decodable_symbols(const seq2seq::Seq2Seq& model) {
  return at::ones({model.codebook().symbols()}, at::kBool)
      .index_fill_(0, at::tensor(model.undecodable(), at::kLong), 0)
      .nonzero()
      .flatten();
}

// Lengths of the rows of the embedding that can be decoded, before they are normalised.
Report norms_report(const seq2seq::Seq2Seq& model) {
  const at::Tensor codes =
      model.parameters().named(model.parameters().values()).at("embedding").cpu();
  const at::Tensor norms =
      at::norm(codes.to(at::kDouble), 2, {1}).index_select(0, decodable_symbols(model));
  if (norms.numel() == 0) return nullptr;
  return {{"min", norms.min().item<double>()},
          {"mean", norms.mean().item<double>()},
          {"max", norms.max().item<double>()},
          {"normalised", name_of(model.options().normalise)}};
}

// ---- the boundary

// The symbols to measure on, and where they come from.
struct Labels {
  at::Tensor ids;  // [N] int64
  Report origin;
};

Labels corpus_labels(const fs::path& folder, const ModelInspection& inspection,
                     const text::Dictionary& dictionary) {
  const corpus::Corpus corpus = corpus::Corpus::open(folder);
  if (const auto difference = dictionary.difference(corpus.tokenizer().dictionary()))
    throw Error(
        fmt::format("the corpus '{}' does not fit the model: {}", folder.string(), *difference));
  const corpus::Split& split = corpus.split(inspection.split);
  const int64_t sentences =
      inspection.sentences > 0 ? std::min(inspection.sentences, split.size()) : split.size();
  std::vector<int64_t> ids;
  for (int64_t k = 0; k < sentences; ++k) {
    const auto target = split.target(k);
    ids.insert(ids.end(), target.begin(), target.end());
  }
  return {at::tensor(ids, at::kLong),
          {{"data", folder.string()},
           {"split", inspection.split},
           {"sentences", sentences},
           {"sentences_of_split", split.size()}}};
}

Labels random_labels(const seq2seq::Seq2Seq& model, uint64_t seed, const std::string& reason) {
  const at::Tensor symbols = decodable_symbols(model);
  require(symbols.numel() > 0, "the model can decode no symbol at all");
  const at::Tensor drawn = random_integers(
      {seed, Purpose::validation, 1}, at::arange(kRandomLabels, at::kLong), 0, symbols.numel() - 1);
  return {symbols.index_select(0, drawn), {{"data", nullptr}, {"reason", reason}}};
}

Labels choose_labels(const ModelInspection& inspection, const seq2seq::LoadedModel& loaded,
                     const task::StoredRecipe* stored) {
  const text::Dictionary& dictionary = loaded.tokenizer.dictionary();
  if (!inspection.data.empty()) return corpus_labels(inspection.data, inspection, dictionary);
  if (stored == nullptr)
    return random_labels(*loaded.model, inspection.seed,
                         "a model does not know its corpus: name one with --data");
  const task::TextData& data = stored->recipe.text.data;
  const fs::path folder = data.folder(inspection.folder);
  try {
    return corpus_labels(folder, inspection, dictionary);
  } catch (const Error& error) {  // a run is worth a look without its corpus too
    if (inspection.split_named) throw;
    return random_labels(*loaded.model, inspection.seed,
                         fmt::format("{} (--data names another place)", error.what()));
  }
}

// Rank of the true symbol at the points the network is shown, for the model's own process and for
// other r and noise factors.
Report ranks_report(const seq2seq::Seq2Seq& model, const Process& process, const at::Tensor& labels,
                    uint64_t seed) {
  constexpr int64_t kTimes = 10, kTokens = 2000;
  const at::Tensor decodable = decodable_symbols(model);
  const at::Tensor ids = labels.masked_select(at::isin(labels, decodable));
  Report report{{"tokens", std::min(kTokens, ids.size(0))}, {"rows", Report::array()}};
  if (ids.size(0) == 0) return report;
  const ProcessOptions own = process.options();
  const auto add = [&](double r, double factor) {
    ProcessOptions options = own;
    options.r = r;
    options.noise_factor = factor;
    const RankStatistics found =
        rank_statistics(Process(options), model.codebook(), ids.slice(0, 0, kTokens), kTimes, seed);
    report["times"] = found.times;
    report["rows"].push_back({{"r", r},
                              {"noise_factor", factor},
                              {"own", r == own.r && factor == own.noise_factor},
                              {"median", found.median},
                              {"mean_log", found.mean_log}});
  };
  add(own.r, own.noise_factor);
  for (const double factor : {1.0, 4.0})
    for (const double r : {0.0, 0.5, 1.0})
      if (r != own.r || factor != own.noise_factor) add(r, factor);
  return report;
}

Report boundary_report(const seq2seq::Seq2Seq& model, const Process& process, const Labels& labels,
                       uint64_t seed) {
  const BoundaryStatistics found =
      boundary_statistics(process, model.codebook(), model.undecodable(), labels.ids, seed);
  Report report = labels.origin;
  report.update({{"tokens", found.tokens},
                 {"outside", found.outside},
                 {"no_exit", found.no_exit},
                 {"mean", found.mean},
                 {"histogram", found.histogram},
                 {"ranks", ranks_report(model, process, labels.ids, seed)}});
  return report;
}

// Null stays null.
Report with_origin(Report origin, const Report& found) {
  if (found.is_null()) return nullptr;
  origin.update(found);
  return origin;
}

Report report_by_kind(const ModelInspection& inspection, const fs::path& folder,
                      const task::StoredRecipe* stored) {
  const c10::NoGradGuard no_grad;
  const std::string kind = kind_of_model(folder);
  if (kind == image_model::kImageKind) return inspect_image_model(folder, inspection);
  if (kind == image_model::kAutoencoderKind) return inspect_autoencoder(folder, inspection);
  const seq2seq::LoadedModel loaded =
      seq2seq::load_model_folder(folder, inspection.device, nn::Precision::float32);
  const seq2seq::Seq2Seq& model = *loaded.model;
  const Report config = parse_model_config(folder);
  Report report{{"folder", folder.string()},
                {"kind", name_of(model.options().kind)},
                {"format", config.at("format")},
                {"bytes", fs::file_size(folder / "model.safetensors")},
                {"parameters", parameters_report(model.parameters())},
                {"symbols", model.codebook().symbols()},
                {"decodable", decodable_symbols(model).numel()},
                {"tokenizer", name_of(loaded.tokenizer.kind())},
                {"raw", loaded.tokenizer.raw()},
                {"code_norms", norms_report(model)}};
  if (stored == nullptr)
    report["options"] = options_report(
        values_of({}, {}), values_of(model.options(), loaded.generation), inspection.all_options);
  if (model.family() == nullptr) return report;
  const Labels labels = choose_labels(inspection, loaded, stored);
  if (const Process* const process = model.family()->process()) {
    report["boundary"] = boundary_report(model, *process, labels, inspection.seed);
    if (const Report schedule = schedule_report(*process); !schedule.is_null())
      report["schedule"] = schedule;
  }
  if (const auto* symbols = dynamic_cast<const SymbolFamily*>(model.family()))
    report["noise"] = with_origin(labels.origin, noise_report(*symbols, labels.ids));
  return report;
}

Report loaded_report(const ModelInspection& inspection, const fs::path& folder,
                     const task::StoredRecipe* stored) {
  Report report = report_by_kind(inspection, folder, stored);
  const ModelAbout about = about_model(folder);
  report["languages"] = languages_report(about.languages);
  report["attribution"] = about.attribution.empty() ? Report() : Report(about.attribution);
  return report;
}

}  // namespace

Report languages_report(const Languages& languages) {
  if (!languages.known()) return nullptr;
  return {{"source", languages.source}, {"target", languages.target}};
}

Report parameters_report(const nn::Parameters& parameters) {
  std::map<std::string, int64_t> sizes;
  for (const auto& [name, tensor] : parameters.named(parameters.values()))
    sizes[name.substr(0, name.find('.'))] += tensor.numel();
  std::vector<std::pair<std::string, int64_t>> parts(sizes.begin(), sizes.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Report by_part = Report::object();
  for (const auto& [name, size] : parts) by_part[name] = size;
  return {{"total", parameters.count()}, {"parts", by_part}};
}

Report inspect_model(const ModelInspection& inspection) {
  const fs::path& folder = inspection.folder;
  if (!train::RunFolder::is_one(folder) && !fs::is_directory(folder / "checkpoints")) {
    require_option(inspection.checkpoint.empty(),
                   "'{}' is a single model: it has no checkpoint '{}'", folder.string(),
                   inspection.checkpoint);
    return {{"kind", "model"},
            {"path", folder.string()},
            {"model", loaded_report(inspection, folder, nullptr)}};
  }
  Report report{{"kind", "run"}, {"path", folder.string()}};
  std::optional<task::StoredRecipe> stored;  // a copied folder of checkpoints has none
  if (train::RunFolder::is_one(folder)) {
    stored.emplace(train::RunFolder::open(folder));
    report["steps"] = stored->recipe.run.steps;
    const std::string score = std::get<std::string>(stored->values.at("train.score"));
    report["score"] = score;
    report["options"] = options_report(stored->defaults, stored->values, inspection.all_options);
    report["history"] = history_report(train::RunFolder::open(folder).metrics(), score);
  }
  report["checkpoints"] = checkpoints_report(folder);
  const bool any = has_checkpoint_folders(folder) || !inspection.checkpoint.empty();
  report["model"] =
      any ? loaded_report(inspection, find_model_folder(folder, inspection.checkpoint),
                          stored ? &*stored : nullptr)
          : Report(nullptr);
  return report;
}

}  // namespace tessera::app
