#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "choices.h"
#include "evaluate_codes.h"
#include "evaluate_images.h"
#include "evaluation/pair_evaluation.h"
#include "evaluation/score_settings.h"
#include "files/files.h"
#include "generation_settings.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/image_folder.h"
#include "option_checks.h"
#include "print_json.h"
#include "score_json.h"
#include "task/stored_recipe.h"
#include "text/line_reader.h"
#include "train/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

struct EvaluateCommand {
  GenerationSettings settings;
  ImageSettings images;
  ImageMeasuring measuring;
  CorpusPart part;  // its folder: empty, or from --data
  fs::path out, other;
  TextEvaluationOptions text;  // all but the settings and global options
};

fs::path corpus_folder(const EvaluateCommand& command) {
  if (!command.part.folder.empty()) return command.part.folder;
  const fs::path& run = command.settings.folder;
  require_option(train::RunFolder::is_one(run),
                 "'{}' is not a run that knows its corpus: name a folder that `tessera prepare` "
                 "wrote with --data",
                 run.string());
  return task::data_folder(task::StoredRecipe(train::RunFolder::open(run)).recipe, run);
}

// The other system's sentences; empty if there is none to compare with.
//   sentences  how many are measured
Lines read_other(const EvaluateCommand& command, int64_t sentences) {
  Lines other;
  if (command.other.empty()) return other;
  text::LineReader reader(command.other);
  for (std::string_view line; reader.next(line);) other.emplace_back(line);
  const int64_t lines = std::ssize(other);
  require(lines == sentences || (lines > sentences && command.part.limit > 0), "{} has {} for {}",
          reader.name(), counted(lines, "line"), counted(sentences, "sentence"));
  other.resize(static_cast<size_t>(sentences));
  return other;
}

std::string text_report(const EvaluateCommand& command, const TextEvaluation& found) {
  std::string text;
  for (const TextScore& each : found.scores) text += each.line + "\n";
  for (const TextScore& each : found.oracle) text += "best candidates: " + each.line + "\n";
  for (const TextScore& each : found.scores) {
    if (!each.comparison) continue;
    const PairedBootstrap& result = each.comparison->result;
    text += fmt::format("{}|{} {:+.2f} against {} ({:.2f}), p = {:.4f}\n", each.name,
                        each.comparison->signature, result.difference, command.other.string(),
                        result.baseline.score, result.p_value);
  }
  if (found.one_step)
    text += fmt::format(
        "one step: {:.1f} % in the right cell, error of x0 {:.4f}, of the velocity {:.4f}; "
        "estimate '{}' of {:.2f} code lengths (as the network gives it: error {:.4f}, {:.2f} code "
        "lengths)\n",
        100 * found.one_step->accuracy, found.one_step->x0_error, found.one_step->velocity_error,
        *found.options.estimate, found.one_step->reach, found.one_step->raw_x0_error,
        found.one_step->raw_reach);
  if (found.bound)
    text +=
        fmt::format("bound: {:.4f} nats per symbol, perplexity {:.2f} ({})\n", found.bound->nats,
                    found.bound->perplexity(), counted(found.bound->draws, "draw"));
  text += fmt::format("exact match {:.2f} %\n", found.exact_match);
  text += fmt::format("{} in {:.2f} s = {:.1f} sentences/s (NFE {}, {})\n",
                      counted(std::ssize(found.texts), "sentence"), found.seconds,
                      found.texts_per_second(), found.nfe, found.effort);
  return text;
}

Json json_report(const EvaluateCommand& command, const TextEvaluation& found, const Engine& engine,
                 uint64_t seed) {
  Json metrics = Json::array();
  for (size_t k = 0; k < found.scores.size(); ++k) {
    Json json = score_json(found.scores[k]);
    if (!found.oracle.empty()) json["oracle"] = score_json(found.oracle[k]);
    if (const auto& comparison = found.scores[k].comparison)
      json["comparison"] = {{"other", command.other.string()},
                            {"signature", comparison->signature},
                            {"other_score", comparison->result.baseline.score},
                            {"difference", comparison->result.difference},
                            {"p_value", comparison->result.p_value}};
    metrics.push_back(json);
  }
  const GenerateOptions& generation = found.options;
  Json report{{"split", command.part.split},
              {"sentences", found.texts.size()},
              {"kind", found.kind},
              {"model", engine.folder().string()},
              {"metrics", metrics},
              {"exact_match", found.exact_match},
              {"nfe", found.nfe}};
  if (generation.lengths)  // diffusion models only
    report.update({{"lengths", *generation.lengths},
                   {"noises", *generation.noises},
                   {"passes", found.passes}});
  else
    report.update({{"beam", *generation.beam}, {"temperature", *generation.temperature}});
  report.update({{"selection", generation.selection->substr(0, generation.selection->find('='))},
                 {"seed", seed},
                 {"seconds", found.seconds},
                 {"sentences_per_second", found.texts_per_second()}});
  if (found.one_step)
    report["one_step"] = {{"x0_error", found.one_step->x0_error},
                          {"velocity_error", found.one_step->velocity_error},
                          {"accuracy", found.one_step->accuracy},
                          {"reach", found.one_step->reach},
                          {"raw_x0_error", found.one_step->raw_x0_error},
                          {"raw_reach", found.one_step->raw_reach},
                          {"tokens", found.one_step->tokens}};
  if (found.bound)
    report["bound"] = {{"nats", found.bound->nats},
                       {"perplexity", found.bound->perplexity()},
                       {"draws", found.bound->draws},
                       {"tokens", found.bound->tokens}};
  return report;
}

constexpr const char* kTextGroup = "Of models of text";
constexpr const char* kImageGroup = "Of models of images";

// An option for the other kind of model would change nothing, so it must be a mistake.
void require_fitting(const CLI::App& evaluate, bool images) {
  for (const CLI::Option* option : evaluate.get_options())
    require_option(
        option->count() == 0 || option->get_group() != (images ? kTextGroup : kImageGroup),
        "{} is not for models of {}", option->get_name(), images ? "images" : "text");
}

// Line by line as text, or as JSON with source and reference.
void write_sentences(AtomicFile& file, const TextEvaluation& found, bool json) {
  for (size_t k = 0; k < found.texts.size(); ++k) {
    const std::string line = json ? Json{{"source", found.sources[k]},
                                         {"generated", found.texts[k]},
                                         {"reference", found.references[k]}}
                                        .dump(-1, ' ', false, Json::error_handler_t::replace)
                                  : found.texts[k];
    file.write(line + "\n");
  }
}

void evaluate_text(EvaluateCommand& command, const GlobalOptions& globals) {
  TextEvaluationOptions& options = command.text;
  require_option(!options.one_step || command.part.limit == 0,
                 "--one-step measures all of a split: it does not go with --limit");
  command.part.folder = corpus_folder(command);
  auto pairs = evaluation::TextPairs::read(command.part);
  options.scores.compare_with = read_other(command, pairs.size());
  std::optional<AtomicFile> file;  // opened now, so that a failure shows before the work
  if (!command.out.empty()) file.emplace(command.out, Links::follow);
  const Engine engine(command.settings.folder, command.settings.load_options(globals));
  options.generation = command.settings.changes();
  options.reference_lengths = command.settings.wants_reference_lengths();
  check_flags(engine, options.generation);
  evaluation::check_options(options, engine, engine::Spelling::flag);
  const evaluation::ScoreSettings known(options.scores);  // throws for other names
  options.seed = options.scores.seed = globals.seed;
  log::info("measuring {}", engine.folder().string());
  TextEvaluation found;
  {
    Progress bar("generating", pairs.size());
    options.progress = [&](int64_t more) { bar.advance(more); };
    found = evaluation::evaluate_pairs(engine, std::move(pairs), options);
  }
  if (file) {
    write_sentences(*file, found, command.out.extension() == ".jsonl");
    file->commit();
  }
  fmt::print(stderr, "{}", found.profile);
  if (globals.json)
    print_json(json_report(command, found, engine, globals.seed));
  else
    std::cout << text_report(command, found);
}

void run_evaluate(const CLI::App& evaluate, EvaluateCommand& command,
                  const GlobalOptions& globals) {
  const GenerationSettings& settings = command.settings;
  const fs::path folder = find_model_folder(settings.folder, settings.checkpoint);
  const std::string kind = kind_of_model(folder);
  const bool codes = kind == image_model::kAutoencoderKind;
  const bool images = codes || kind == image_model::kImageKind;
  require_fitting(evaluate, images);
  if (!images) return evaluate_text(command, globals);
  command.measuring.data = command.part.folder;
  if (codes) {
    require_measures_codes(evaluate);
    return evaluate_codes(settings, command.measuring, globals);
  }
  require_option(command.measuring.reconstructions.empty(),
                 "--reconstructions is for autoencoders");
  // Both kinds use the sampler's flags.
  const GenerateOptions& flags = settings.options;
  SampleOptions& options = command.images.options;
  options.steps = flags.steps;
  options.r = flags.r;
  options.sampler = flags.sampler;
  options.path = flags.path;
  options.clock = flags.clock;
  options.estimate = flags.estimate;
  options.order = flags.order;
  options.predictor = flags.predictor;
  options.correctors = flags.correctors;
  options.temperature = flags.temperature;
  evaluate_images(settings, command.images, command.measuring, globals);
}

CLI::App* add_command(CLI::App& program, const std::shared_ptr<EvaluateCommand>& command) {
  CLI::App* evaluate = program.add_subcommand(
      "evaluate",
      "measure a model: scores and speed on a split of its corpus, or the distance of images it "
      "makes from real ones");
  add_generation_options(*evaluate, command->settings);
  // Options for both kinds of model. All others but the image options are for text only.
  const std::set<std::string> both{"folder",        "--checkpoint", "--precision", "--steps",
                                   "--r",           "--sampler",    "--path",      "--clock",
                                   "--estimate",    "--order",      "--predictor", "--correctors",
                                   "--temperature", "--help",       "--data"};
  evaluate->add_option("--split", command->part.split, "part of the corpus")
      ->type_name("test|valid|train|NAME")
      ->capture_default_str();
  evaluate
      ->add_option("--data", command->part.folder,
                   "folder that `tessera prepare` wrote (default: that of the run)")
      ->option_text("DIR");
  evaluate->add_option("--limit", command->part.limit, "take the first N sentences only")
      ->check(whole_number(1))
      ->option_text("N");
  evaluate
      ->add_option("--metric", command->text.scores.metrics,
                   "what to compute, separated by commas; rouge is ROUGE-1, 2 and L")
      ->delimiter(',')
      ->type_name(choices<evaluation::Metric>())
      ->capture_default_str();
  evaluate
      ->add_option(
          "--tokenize", command->text.scores.tokenization,
          "for BLEU: 13a, none, or moses-13a: text that Moses' scripts tokenised is joined "
          "first (default: none for text that was tokenised already, 13a for raw text)")
      ->option_text(choices<text_metric::Tokenization>());
  evaluate->add_flag("--lowercase", command->text.scores.lowercase, "ignore case");
  evaluate
      ->add_option(
          "--out", command->out,
          "write the sentences to a file; one named .jsonl gets sources and references, too")
      ->option_text("FILE");
  evaluate
      ->add_option("--compare", command->other,
                   "another system's sentences: test whether the difference is more than chance "
                   "(paired bootstrap, with --seed)")
      ->option_text("FILE");
  evaluate
      ->add_option("--samples", command->text.scores.samples,
                   "for --compare: how often to draw lines")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  evaluate->add_flag(
      "--oracle", command->text.oracle,
      "also score the candidates closest to the references: the best that a choice could reach");
  evaluate->add_flag("--one-step", command->text.one_step,
                     "also measure single steps from noise as in training: errors, and how often "
                     "the estimate is in the right cell");
  evaluate
      ->add_option("--bound", command->text.bound_draws,
                   "models of kind symbols: also measure the bound of the likelihood, in nats per "
                   "symbol, with N draws of every sentence")
      ->check(whole_number(1))
      ->option_text("N");
  evaluate
      ->add_option("--profile", command->text.profile,
                   "generate once more with a profile, and write a trace for chrome://tracing")
      ->check(file_to_write())
      ->option_text("FILE");
  for (CLI::Option* option : evaluate->get_options())
    if (!both.contains(option->get_name()) && option->get_name() != "-h,--help")
      option->group(kTextGroup);
  const size_t before = evaluate->get_options().size();
  add_image_options(*evaluate, command->images);
  add_image_measuring(*evaluate, command->measuring);
  const auto options = evaluate->get_options();
  for (size_t i = before; i < options.size(); ++i) options[i]->group(kImageGroup);
  return evaluate;
}

}  // namespace

void add_evaluate(CLI::App& program, const GlobalOptions& globals) {
  auto command = std::make_shared<EvaluateCommand>();
  CLI::App* evaluate = add_command(program, command);
  evaluate->callback([command, evaluate, &globals] { run_evaluate(*evaluate, *command, globals); });
}

void add_evaluate_check(CLI::App& program) {
  auto command = std::make_shared<EvaluateCommand>();
  add_command(program, command)->callback([command] {});  // keeps what options write to
}

}  // namespace tessera::app
