#include "command.h"

#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "config/option_text.h"
#include "model_settings.h"
#include "print_json.h"
#include "task/stored_recipe.h"
#include "text_chart.h"
#include "train/run_folder.h"

#include <tessera/evaluation/model_export.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ExportCommand {
  ModelSettings model;
  fs::path out, data;
  std::string check;  // a split; empty: none
  int64_t limit = 0;  // of its sentences
  ModelExportOptions options;
};

// The recipe of a run, where it differs from the defaults; without the names of files and folders,
// which mean nothing elsewhere.
std::string recipe_of(const fs::path& run) {
  if (!train::RunFolder::is_one(run)) return "";
  const task::StoredRecipe stored(train::RunFolder::open(run));
  static const std::set<std::string> paths{"data.dir", "train.out", "train.init", "train.features",
                                           "train.statistics"};
  std::string text;
  for (const auto& [key, value] : stored.values)
    if (!paths.contains(key) && value != stored.defaults.at(key))
      text += fmt::format("{} = {}\n", key, config::toml_text(value));
  return text;
}

CorpusPart part_of(const ExportCommand& command) {
  CorpusPart part{.folder = command.data, .split = command.check, .limit = command.limit};
  const fs::path& run = command.model.folder;
  if (!part.folder.empty()) return part;
  require_option(train::RunFolder::is_one(run),
                 "'{}' is not a run that knows its corpus: name a folder that `tessera prepare` "
                 "wrote with --data",
                 run.string());
  part.folder = task::data_folder(task::StoredRecipe(train::RunFolder::open(run)).recipe, run);
  return part;
}

Json json_of(const ModelExport& made) {
  Json json{{"model", made.folder.string()}, {"kind", made.kind},
            {"parameters", made.parameters}, {"weights_bytes", made.weights_bytes},
            {"bytes", made.bytes},           {"sha256", made.sha256}};
  if (const auto& check = made.check)
    json["check"] = {{"metric", check->after.name},
                     {"signature", check->after.signature},
                     {"sentences", check->sentences},
                     {"before", check->before.score},
                     {"after", check->after.score}};
  return json;
}

std::string text_of(const ModelExport& made) {
  std::string text =
      fmt::format("{}\n{} parameters, model.safetensors of {} ({} in all)\nSHA-256 {}\n",
                  made.folder.string(), with_commas(made.parameters),
                  byte_count(made.weights_bytes), byte_count(made.bytes), made.sha256);
  if (const auto& check = made.check)
    text += fmt::format("{} {:.2f} before rounding, {:.2f} after it ({}; {})\n", check->after.name,
                        check->before.score, check->after.score,
                        counted(check->sentences, "sentence"), check->after.signature);
  return text;
}

void run_export(ExportCommand& command, const GlobalOptions& globals) {
  ModelExportOptions& options = command.options;
  options.checkpoint = command.model.checkpoint;
  options.device = globals.device;
  options.recipe = recipe_of(command.model.folder);
  require_option(!command.check.empty() || (command.data.empty() && command.limit == 0),
                 "--data and --limit are for --check: name the split to measure on");
  std::optional<Progress> bar;
  if (!command.check.empty()) {
    options.check = part_of(command);
    bar.emplace("measuring", 0);
    options.progress = [&](int64_t more) { bar->advance(more); };
  }
  const ModelExport made = export_model(command.model.folder, command.out, options);
  bar.reset();
  if (globals.json)
    print_json(json_of(made));
  else
    std::cout << text_of(made);
}

}  // namespace

void add_export(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* exporting = program.add_subcommand(
      "export", "write a model to be passed on: half the size, without the state of its training");
  exporting->footer(
      "The averaged weights are rounded to bfloat16, all but the codes; the folder works wherever\n"
      "a model does. A card says what people should know about the model; docs/models.md lists "
      "its\n"
      "keys.\n"
      "  tessera export runs/mine --out models/mine --card card.toml --check test");
  auto command = std::make_shared<ExportCommand>();
  add_model_option(*exporting, command->model);
  exporting->add_option("--out", command->out, "folder to write, which must not exist")
      ->required()
      ->option_text("FOLDER");
  exporting
      ->add_option(
          "--precision", command->options.precision,
          "number format of the stored weights; codes are always float32. int8 is for models "
          "of text that generate on a CPU with --precision int8; other uses turn it back into "
          "float32")
      ->capture_default_str()
      ->option_text("bfloat16|float32|int8");
  exporting
      ->add_option("--card", command->options.cards,
                   "what people should know about the model, for its README.md; of several cards, "
                   "what a later one says counts")
      ->option_text("CARD.toml");
  exporting
      ->add_option(
          "--checkpoint", command->model.checkpoint,
          "checkpoint of a run: best, last, or a number of updates (default: best if there "
          "is one, else last)")
      ->option_text("best|last|N");
  exporting
      ->add_option("--check", command->check,
                   "measure BLEU on this split before and after rounding (models of text)")
      ->option_text("SPLIT");
  exporting
      ->add_option("--data", command->data,
                   "corpus to measure on, as `tessera prepare` wrote it (default: that of the run)")
      ->option_text("DIR");
  exporting->add_option("--limit", command->limit, "measure on the first N sentences only")
      ->check(whole_number(1))
      ->option_text("N");
  exporting->callback([command, &globals] { run_export(*command, globals); });
}

}  // namespace tessera::app
