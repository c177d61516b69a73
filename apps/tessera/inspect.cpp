#include "command.h"

#include "base/require.h"
#include "base/visible_text.h"
#include "corpus/manifest.h"
#include "image/manifest.h"
#include "inspection.h"
#include "print_json.h"
#include "tensor/device.h"
#include "train/run_folder.h"

#include <filesystem>
#include <iostream>
#include <memory>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

enum class Thing { model, corpus, images, tensors };  // a run is a model with a history

Thing kind_of(const fs::path& path) {
  std::error_code ignored;
  const auto has = [&](const char* name) { return fs::exists(path / name, ignored); };
  require(fs::exists(path, ignored), "there is no '{}'", path.string());
  if (!fs::is_directory(path, ignored)) return Thing::tensors;
  // An incomplete model is a model too: loading it reports what is missing.
  if (train::RunFolder::is_one(path) || has("checkpoints") || has("config.json") ||
      has("model.safetensors"))
    return Thing::model;
  if (image::Manifest::is_in(path)) return Thing::images;
  if (has(corpus::Manifest::kFileName)) return Thing::corpus;
  throw Error(fmt::format("'{}' is neither a run, a model nor a corpus", path.string()),
              "a run has a config.toml, a model config.json and model.safetensors, a corpus "
              "manifest.json");
}

void require_model(const ModelInspection& inspection) {
  require_option(inspection.checkpoint.empty() && inspection.data.empty(),
                 "'{}' is neither a run nor a model: --checkpoint and --data are for those",
                 inspection.folder.string());
}

void run_inspect(ModelInspection inspection, const GlobalOptions& globals) {
  inspection.device = parse_device(globals.device);
  inspection.seed = globals.seed;
  const fs::path& path = inspection.folder;
  const Thing kind = kind_of(path);
  if (kind != Thing::model) require_model(inspection);
  const Report report = kind == Thing::model    ? inspect_model(inspection)
                        : kind == Thing::corpus ? inspect_corpus(path)
                        : kind == Thing::images ? inspect_dataset(path)
                                                : inspect_tensors(path);
  if (globals.json)
    print_json(report);
  else
    std::cout << visible(kind == Thing::model    ? model_text(report)
                         : kind == Thing::corpus ? corpus_text(report)
                         : kind == Thing::images ? dataset_text(report)
                                                 : tensors_text(report));
}

}  // namespace

void add_inspect(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* inspect = program.add_subcommand(
      "inspect", "show what is in a run, a model, a corpus or a safetensors file");
  inspect->footer(
      "Of a run: checkpoints, history, options that differ from their defaults. Of its model (or "
      "a\n"
      "model folder): parameters, symbols, lengths of the codes, and where the paths from tokens "
      "to\n"
      "noise leave their cells: share of tokens outside, histogram of t0/T; of models of symbols,\n"
      "what noise leaves of them by time. Of a corpus: pairs, lengths, frequent symbols.\n"
      "--json prints all of it for scripts.");
  auto command = std::make_shared<ModelInspection>();
  inspect
      ->add_option("path", command->folder,
                   "folder of a run, a model or a corpus, or a .safetensors file")
      ->required()
      ->option_text("RUN|MODEL|CORPUS|FILE");
  inspect
      ->add_option("--checkpoint", command->checkpoint,
                   "checkpoint of a run: best, last or a number of updates (default: best if there "
                   "is one, else last)")
      ->option_text("best|last|N");
  inspect
      ->add_option("--data", command->data,
                   "corpus to measure on (default: that of the run; without one, random labels)")
      ->option_text("DIR");
  inspect->add_option("--split", command->split, "part of the corpus to measure on")
      ->type_name("test|valid|train|NAME")
      ->capture_default_str();
  inspect->add_option("--limit", command->sentences, "sentences to measure on, at most; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  inspect->add_flag("--all", command->all_options,
                    "also show options that have their default values");
  inspect->callback([command, inspect, &globals] {
    command->split_named = inspect->count("--split") > 0;
    run_inspect(*command, globals);
  });
}

}  // namespace tessera::app
