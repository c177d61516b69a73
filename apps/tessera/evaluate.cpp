#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "corpus/corpus.h"
#include "engine/option_checks.h"
#include "engine/text_engine.h"
#include "evaluate_images.h"
#include "files/files.h"
#include "generation_settings.h"
#include "image_model/image_folder.h"
#include "measurement.h"
#include "option_checks.h"
#include "print_json.h"
#include "seq2seq/one_step.h"
#include "task/stored_recipe.h"
#include "tensor/profiler.h"
#include "text/line_reader.h"
#include "text_metric/bleu.h"
#include "text_metric/bootstrap.h"
#include "text_metric/exact_match.h"
#include "train/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
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
  std::string split = "test";
  fs::path data, out, other, profile;
  int64_t limit = 0;
  std::vector<std::string> metrics{"bleu"};
  std::string tokenization;
  bool lowercase = false;
  bool oracle = false, one_step = false;
  int samples = 1000;
};

constexpr int64_t kOneStepTokens = 8000;  // of a batch

// The model that is measured.
struct Measured {
  Engine engine;
  GenerateOptions changes;
  seq2seq::GenerationOptions options;  // in effect

  Measured(const GenerationSettings& settings, const GlobalOptions& globals)
      : engine(settings.folder, settings.load_options(globals)),
        changes(settings.changes()),
        options(options_in_effect(engine, changes)) {
    require_option(!settings.wants_reference_lengths() || !searches(),
                   "--length is not for models of kind '{}'", name_of(model().options().kind));
  }

  const seq2seq::Seq2Seq& model() const { return engine.text().model(); }
  const text::Tokenizer& tokenizer() const { return engine.text().tokenizer(); }
  bool searches() const { return model().family() == nullptr; }
};

std::vector<TextResult> run(const Engine& engine, const std::vector<TextRequest>& requests,
                            const std::function<void(int64_t)>& progress = {}) {
  std::vector<TextResult> results = engine.run(requests, progress);
  for (const TextResult& result : results) result.require_done();
  return results;
}

// All sentences in few steps, so that before the clock runs libraries are loaded, kernels chosen
// and memory taken for every shape.
void warm_up(const Measured& measured, std::vector<TextRequest> requests) {
  for (TextRequest& request : requests) {
    if (!measured.searches())
      request.options.steps = std::min<int64_t>(measured.options.sampler.steps, 2);
    if (measured.options.selection == seq2seq::Selection::rerank) request.options.selection.reset();
    request.target_length.reset();
  }
  run(measured.engine, requests);
}

fs::path corpus_folder(const EvaluateCommand& command) {
  if (!command.data.empty()) return command.data;
  const fs::path& run = command.settings.folder;
  require_option(train::RunFolder::is_one(run),
                 "'{}' is not a run that knows its corpus: name a folder that `tessera prepare` "
                 "wrote with --data",
                 run.string());
  return task::data_folder(task::StoredRecipe(train::RunFolder::open(run)).recipe, run);
}

struct Sentences {
  Lines sources, references;
};

Sentences read_sentences(const EvaluateCommand& command, const corpus::Corpus& corpus) {
  const corpus::Split& split = corpus.split(command.split);
  Sentences sentences{split.source_lines(), split.target_lines()};
  require(!sentences.sources.empty(), "the split '{}' has no sentences", command.split);
  if (command.limit > 0 && static_cast<size_t>(command.limit) < sentences.sources.size()) {
    sentences.sources.resize(static_cast<size_t>(command.limit));
    sentences.references.resize(static_cast<size_t>(command.limit));
  }
  return sentences;
}

// What a system made of the sentences, and how long it took.
struct Output {
  Lines lines;
  std::vector<Lines> candidates;  // of every sentence, where they are asked for
  double seconds = 0;             // lengths, sampling and selection; loading is not counted
  int64_t nfe = 0;                // network calls of a sentence
  int64_t passes = 0;             // of the decoder: network calls of all its candidates
};

Output translate(const Measured& measured, const Sentences& sentences,
                 const EvaluateCommand& command, uint64_t seed) {
  const Engine& engine = measured.engine;
  std::vector<TextRequest> requests =
      requests_for(sentences.sources, /*first_line=*/0, measured.changes, seed);
  for (size_t k = 0; k < requests.size(); ++k) {
    requests[k].symbols = engine.symbols_of(sentences.sources[k]);  // before the clock runs
    if (command.settings.wants_reference_lengths())
      requests[k].target_length =
          static_cast<int64_t>(engine.symbols_of(sentences.references[k]).size());
  }
  warm_up(measured, requests);

  Output output;
  std::vector<TextResult> results;
  {
    Progress progress("generating", static_cast<int64_t>(requests.size()));
    const auto began = std::chrono::steady_clock::now();
    results = run(engine, requests, [&](int64_t count) { progress.advance(count); });
    output.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  if (!command.profile.empty()) {
    Profiler profiler(measured.model().device());
    run(engine, requests);
    fmt::print(stderr, "{}", profiler.finish(command.profile).table());
  }
  for (TextResult& result : results) {
    output.lines.push_back(std::move(result.text));
    output.nfe = std::max(output.nfe, result.nfe);
    output.passes =
        std::max(output.passes, result.nfe * static_cast<int64_t>(result.candidates.size()));
    if (!command.oracle) continue;
    auto& candidates = output.candidates.emplace_back();
    for (const TextResult::Candidate& candidate : result.candidates)
      candidates.push_back(measured.tokenizer().decode(candidate.symbols));
  }
  return output;
}

// The candidates that come closest to the references, by sentence BLEU: what the best choice would
// give.
Lines oracle_choice(const std::vector<Lines>& candidates, const Lines& references,
                    const MeasureOptions& measuring) {
  text_metric::BleuOptions options;
  options.tokenization = measuring.tokenization;
  options.lowercase = measuring.lowercase;
  Lines chosen;
  for (size_t k = 0; k < candidates.size(); ++k) {
    const auto score = [&](const std::string& line) {
      const std::string_view reference = references[k];
      return text_metric::sentence_bleu(line, std::span(&reference, 1), options).score;
    };
    size_t best = 0;
    double highest = -1;
    for (size_t c = 0; c < candidates[k].size(); ++c)
      if (const double now = score(candidates[k][c]); now > highest)
        std::tie(best, highest) = std::pair(c, now);
    chosen.push_back(candidates[k][best]);
  }
  return chosen;
}

struct Contest {
  std::string signature;
  text_metric::PairedBootstrap result;
};

// The other system's sentences; none where none is to be compared with.
Lines read_other(const EvaluateCommand& command, size_t sentences) {
  Lines other;
  if (command.other.empty()) return other;
  text::LineReader reader(command.other);
  for (std::string_view line; reader.next(line);) other.emplace_back(line);
  const bool fits = other.size() == sentences || (other.size() > sentences && command.limit > 0);
  require(fits, "{} has {} for {}", reader.name(),
          counted(static_cast<int64_t>(other.size()), "line"),
          counted(static_cast<int64_t>(sentences), "sentence"));
  other.resize(sentences);
  return other;
}

std::vector<Contest> contests(const std::vector<Measurement>& ours,
                              const std::vector<Measurement>& theirs,
                              const text_metric::BootstrapOptions& bootstrap) {
  std::vector<Contest> result;
  for (size_t k = 0; k < ours.size(); ++k)
    result.push_back({text_metric::bootstrap_signature(ours[k].signature, bootstrap),
                      text_metric::paired_bootstrap(theirs[k].lines, ours[k].lines, bootstrap)});
  return result;
}

MeasureOptions measure_options(const EvaluateCommand& command, bool raw) {
  MeasureOptions options;
  options.metrics.clear();
  for (const std::string& name : command.metrics)
    options.metrics.push_back(parse_name<Metric>(name));
  options.tokenization = command.tokenization.empty()
                             ? text_metric::usual_tokenization(raw)
                             : parse_name<text_metric::Tokenization>(command.tokenization);
  options.lowercase = command.lowercase;
  return options;
}

// All that was found.
struct Findings {
  std::vector<Measurement> measured;
  std::vector<Contest> compared;    // one of every measurement, or none
  std::vector<Measurement> oracle;  // likewise
  double exact = 0;                 // percent
  std::optional<seq2seq::OneStep> one_step;
};

std::string text_report(const EvaluateCommand& command, const Findings& found, const Output& output,
                        const Measured& measured) {
  std::string text;
  for (const Measurement& each : found.measured) text += each.line + "\n";
  for (const Measurement& each : found.oracle) text += "best candidates: " + each.line + "\n";
  for (size_t k = 0; k < found.compared.size(); ++k) {
    const text_metric::PairedBootstrap& result = found.compared[k].result;
    text += fmt::format("{}|{} {:+.2f} against {} ({:.2f}), p = {:.4f}\n", found.measured[k].name,
                        found.compared[k].signature, result.difference, command.other.string(),
                        result.baseline.score, result.p_value);
  }
  if (found.one_step)
    text += fmt::format(
        "one step: {:.1f} % in the right cell, error of x0 {:.4f}, of the velocity {:.4f}; "
        "estimate '{}' of {:.2f} code lengths (as the network gives it: error {:.4f}, {:.2f} code "
        "lengths)\n",
        100 * found.one_step->accuracy, found.one_step->x0_error, found.one_step->velocity_error,
        name_of(measured.options.sampler.estimate), found.one_step->reach,
        found.one_step->raw_x0_error, found.one_step->raw_reach);
  text += fmt::format("exact match {:.2f} %\n", found.exact);
  text += fmt::format("{} in {:.2f} s = {:.1f} sentences/s (NFE {}, {})\n",
                      counted(static_cast<int64_t>(output.lines.size()), "sentence"),
                      output.seconds, static_cast<double>(output.lines.size()) / output.seconds,
                      output.nfe, measured.model().effort(measured.options));
  return text;
}

Json measurement_json(const Measurement& measured) {
  Json json{{"name", measured.name},
            {"score", measured.score},
            {"signature", measured.signature},
            {"line", measured.line}};
  json.update(measured.details);
  return json;
}

Json json_report(const EvaluateCommand& command, const Findings& found, const Output& output,
                 const Measured& measured, uint64_t seed) {
  Json metrics = Json::array();
  for (size_t k = 0; k < found.measured.size(); ++k) {
    Json json = measurement_json(found.measured[k]);
    if (!found.oracle.empty()) json["oracle"] = measurement_json(found.oracle[k]);
    if (!found.compared.empty())
      json["comparison"] = {{"other", command.other.string()},
                            {"signature", found.compared[k].signature},
                            {"other_score", found.compared[k].result.baseline.score},
                            {"difference", found.compared[k].result.difference},
                            {"p_value", found.compared[k].result.p_value}};
    metrics.push_back(json);
  }
  const seq2seq::GenerationOptions& generation = measured.options;
  Json report{{"split", command.split},
              {"sentences", output.lines.size()},
              {"kind", name_of(measured.model().options().kind)},
              {"model", measured.engine.folder().string()},
              {"metrics", metrics},
              {"exact_match", found.exact},
              {"nfe", output.nfe}};
  report.update(measured.model().effort_report(generation));
  if (measured.model().family() != nullptr) report["passes"] = output.passes;
  report.update(
      {{"selection", name_of(generation.selection)},
       {"seed", seed},
       {"seconds", output.seconds},
       {"sentences_per_second", static_cast<double>(output.lines.size()) / output.seconds}});
  if (found.one_step)
    report["one_step"] = {{"x0_error", found.one_step->x0_error},
                          {"velocity_error", found.one_step->velocity_error},
                          {"accuracy", found.one_step->accuracy},
                          {"reach", found.one_step->reach},
                          {"raw_x0_error", found.one_step->raw_x0_error},
                          {"raw_reach", found.one_step->raw_reach},
                          {"tokens", found.one_step->tokens}};
  return report;
}

constexpr const char* kTextGroup = "Of models of text";
constexpr const char* kImageGroup = "Of models of images";

// An option of the other kind of model would change nothing: whoever gives it is mistaken.
void require_fitting(const CLI::App& evaluate, bool images) {
  for (const CLI::Option* option : evaluate.get_options())
    require_option(
        option->count() == 0 || option->get_group() != (images ? kTextGroup : kImageGroup),
        "{} is not for models of {}", option->get_name(), images ? "images" : "text");
}

// Line by line as text, or as JSON with source and reference.
void write_sentences(AtomicFile& file, const Sentences& sentences, const Lines& generated,
                     bool json) {
  for (size_t k = 0; k < generated.size(); ++k) {
    const std::string line = json ? Json{{"source", sentences.sources[k]},
                                         {"generated", generated[k]},
                                         {"reference", sentences.references[k]}}
                                        .dump(-1, ' ', false, Json::error_handler_t::replace)
                                  : generated[k];
    file.write(line + "\n");
  }
}

void evaluate_text(const EvaluateCommand& command, const GlobalOptions& globals) {
  require_option(!command.one_step || command.limit == 0,
                 "--one-step measures all of a split: it does not go with --limit");
  const corpus::Corpus corpus = corpus::Corpus::open(corpus_folder(command));
  const Sentences sentences = read_sentences(command, corpus);
  const Lines other = read_other(command, sentences.sources.size());
  std::optional<AtomicFile> file;  // opened now: what cannot be written is known before the work
  if (!command.out.empty()) file.emplace(command.out, Links::follow);
  const Measured measured(command.settings, globals);
  const Family* const family = measured.model().family();
  require_option(!command.one_step || (family != nullptr && family->process() != nullptr),
                 "--one-step is for models of kind 'diffusion'");
  const MeasureOptions measuring = measure_options(command, measured.tokenizer().raw());
  log::info("measuring {}", measured.engine.folder().string());
  const Output output = translate(measured, sentences, command, globals.seed);
  if (file) {
    write_sentences(*file, sentences, output.lines, command.out.extension() == ".jsonl");
    file->commit();
  }

  const std::vector<Lines> references{sentences.references};
  Findings found;
  found.measured = measure(output.lines, references, measuring);
  if (!other.empty())
    found.compared = contests(found.measured, measure(other, references, measuring),
                              {command.samples, globals.seed});
  if (command.oracle)
    found.oracle = measure(oracle_choice(output.candidates, sentences.references, measuring),
                           references, measuring);
  found.exact = text_metric::exact_match(output.lines, sentences.references);
  if (command.one_step)
    found.one_step = measured.model().one_step(corpus.split(command.split), kOneStepTokens,
                                               globals.seed, measured.options.sampler.estimate);
  if (globals.json)
    print_json(json_report(command, found, output, measured, globals.seed));
  else
    std::cout << text_report(command, found, output, measured);
}

void run_evaluate(const CLI::App& evaluate, EvaluateCommand& command,
                  const GlobalOptions& globals) {
  const GenerationSettings& settings = command.settings;
  const fs::path folder = find_model_folder(settings.folder, settings.checkpoint);
  const bool images = kind_of_model(folder) == image_model::kImageKind;
  require_fitting(evaluate, images);
  if (!images) return evaluate_text(command, globals);
  command.measuring.data = command.data;
  // The sampler's flags are those of both kinds.
  const GenerateOptions& flags = settings.options;
  SampleOptions& options = command.images.options;
  options.steps = flags.steps;
  options.r = flags.r;
  options.sampler = flags.sampler;
  options.path = flags.path;
  options.clock = flags.clock;
  options.estimate = flags.estimate;
  evaluate_images(settings, command.images, command.measuring, globals);
}

CLI::App* add_command(CLI::App& program, const std::shared_ptr<EvaluateCommand>& command) {
  CLI::App* evaluate = program.add_subcommand(
      "evaluate",
      "measure a model: scores and speed on a split of its corpus, or the distance of images it "
      "makes from real ones");
  add_generation_options(*evaluate, command->settings);
  // Which options are for text alone is told from those that are for both.
  const std::set<std::string> both{"folder",     "--checkpoint", "--precision", "--steps",
                                   "--r",        "--sampler",    "--path",      "--clock",
                                   "--estimate", "--help",       "--data"};
  evaluate->add_option("--split", command->split, "part of the corpus: test, valid, ...")
      ->capture_default_str();
  evaluate
      ->add_option("--data", command->data,
                   "folder that `tessera prepare` wrote (default: that of the run)")
      ->option_text("DIR");
  evaluate->add_option("--limit", command->limit, "take the first N sentences only")
      ->check(whole_number(1))
      ->option_text("N");
  evaluate
      ->add_option("--metric", command->metrics,
                   "what to compute, separated by commas: bleu, chrf, chrf++, rouge")
      ->delimiter(',')
      ->capture_default_str();
  evaluate
      ->add_option(
          "--tokenize", command->tokenization,
          "for BLEU: 13a, none, or moses-13a: text that Moses' scripts tokenised is joined "
          "first (default: none for text that was tokenised already, 13a for raw text)")
      ->option_text("13a|none|moses-13a");
  evaluate->add_flag("--lowercase", command->lowercase, "ignore case");
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
  evaluate->add_option("--samples", command->samples, "for --compare: how often to draw lines")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  evaluate->add_flag(
      "--oracle", command->oracle,
      "also score the candidates closest to the references: the best that a choice could reach");
  evaluate->add_flag("--one-step", command->one_step,
                     "also measure single steps from noise as in training: errors, and how often "
                     "the estimate is in the right cell");
  evaluate
      ->add_option("--profile", command->profile,
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
  add_command(program, command)->callback([command] {});  // which keeps what options write to
}

}  // namespace tessera::app
