#include "command.h"

#include "base/device.h"
#include "base/files.h"
#include "base/log.h"
#include "base/profiler.h"
#include "base/progress.h"
#include "base/require.h"
#include "generation_settings.h"
#include "measurement.h"
#include "metric/bootstrap.h"
#include "model/generator.h"
#include "model/model_folder.h"
#include "text/corpus.h"
#include "text/line_reader.h"
#include "train/run_folder.h"
#include "train/stored_recipe.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

struct EvaluateCommand {
  GenerationSettings settings;
  std::string split = "test";
  fs::path data, out, other, profile;
  int64_t limit = 0;
  std::vector<std::string> metrics{"bleu"};
  std::string tokenization;
  bool lowercase = false;
  int samples = 1000;
};

constexpr size_t kProfileRows = 40;

// All sentences in few steps, so that before the clock runs libraries are loaded, kernels chosen
// and memory taken for every shape.
void warm_up(const model::Seq2Seq& model, model::GenerationOptions quick,
             const std::vector<std::vector<text::Id>>& ids) {
  quick.sampler.steps = std::min<int64_t>(quick.sampler.steps, 2);
  quick.sampler.skip_last = 0;
  model::Generator(model, quick).generate(ids);
}

fs::path corpus_folder(const EvaluateCommand& command) {
  if (!command.data.empty()) return command.data;
  const fs::path& run = command.settings.folder;
  require_option(train::RunFolder::is_one(run),
                 "'{}' is not a run that knows its corpus: name a folder that `tessera prepare` "
                 "wrote with --data",
                 run.string());
  return train::corpus_folder(train::StoredRecipe(train::RunFolder::open(run)).recipe.data, run);
}

struct Sentences {
  Lines sources, references;
};

Sentences read_sentences(const EvaluateCommand& command) {
  const text::Corpus corpus = text::Corpus::open(corpus_folder(command));
  const text::Split& split = corpus.split(command.split);
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
  double seconds = 0;  // lengths, sampling and selection; loading is not counted
  int64_t nfe = 0;     // network calls of a sentence
};

Output translate(const model::LoadedModel& loaded, const model::Generator& generator,
                 const Lines& sources, const fs::path& profile) {
  std::vector<std::vector<text::Id>> ids;
  for (const std::string& line : sources) {
    ids.push_back(loaded.tokenizer.encode(line));
    ids.back().push_back(text::Dictionary::kEos);
  }
  warm_up(*loaded.model, generator.options(), ids);

  Output output;
  std::vector<model::Generated> results;
  {
    Progress progress("generating", static_cast<int64_t>(ids.size()));
    model::GenerateHooks hooks;
    hooks.progress = [&](int64_t sentences) { progress.advance(sentences); };
    const auto began = std::chrono::steady_clock::now();
    results = generator.generate(ids, hooks);
    output.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  if (!profile.empty()) {
    Profiler profiler(loaded.model->device());
    generator.generate(ids);
    fmt::print(stderr, "{}", profiler.finish(profile).table(kProfileRows));
  }
  for (const model::Generated& result : results) {
    output.lines.push_back(loaded.tokenizer.decode(result.ids()));
    output.nfe = std::max(output.nfe, result.nfe);
  }
  return output;
}

struct Contest {
  std::string signature;
  metric::PairedBootstrap result;
};

// The other system's sentences; none where none is to be compared with.
Lines read_other(const EvaluateCommand& command, size_t sentences) {
  Lines other;
  if (command.other.empty()) return other;
  text::LineReader reader(command.other);
  for (std::string_view line; reader.next(line);) other.emplace_back(line);
  const bool fits = other.size() == sentences || (other.size() > sentences && command.limit > 0);
  require(fits, "{} has {} line(s) for {} sentences", reader.name(), other.size(), sentences);
  other.resize(sentences);
  return other;
}

std::vector<Contest> contests(const std::vector<Measurement>& ours,
                              const std::vector<Measurement>& theirs,
                              const metric::BootstrapOptions& bootstrap) {
  std::vector<Contest> result;
  for (size_t k = 0; k < ours.size(); ++k)
    result.push_back({metric::bootstrap_signature(ours[k].signature, bootstrap),
                      metric::paired_bootstrap(theirs[k].lines, ours[k].lines, bootstrap)});
  return result;
}

double exact_match(const Lines& lines, const Lines& references) {
  size_t equal = 0;
  for (size_t k = 0; k < lines.size(); ++k) equal += lines[k] == references[k];
  return 100.0 * static_cast<double>(equal) / static_cast<double>(lines.size());
}

MeasureOptions measure_options(const EvaluateCommand& command, bool raw) {
  MeasureOptions options;
  options.metrics.clear();
  for (const std::string& name : command.metrics)
    options.metrics.push_back(parse_name<Metric>(name));
  options.tokenization = !command.tokenization.empty()
                             ? parse_name<metric::Tokenization>(command.tokenization)
                         : raw ? metric::Tokenization::mteval_13a
                               : metric::Tokenization::none;
  options.lowercase = command.lowercase;
  return options;
}

std::string text_report(const EvaluateCommand& command, const std::vector<Measurement>& measured,
                        const std::vector<Contest>& compared, const Output& output, double exact,
                        const model::GenerationOptions& generation) {
  std::string text;
  for (const Measurement& each : measured) text += each.line + "\n";
  for (size_t k = 0; k < compared.size(); ++k) {
    const metric::PairedBootstrap& result = compared[k].result;
    text += fmt::format("{}|{} {:+.2f} against {} ({:.2f}), p = {:.4f}\n", measured[k].name,
                        compared[k].signature, result.difference, command.other.string(),
                        result.baseline.score, result.p_value);
  }
  text += fmt::format("exact match {:.2f} %\n", exact);
  text += fmt::format(
      "{} sentences in {:.2f} s = {:.1f} sentences/s (NFE {}, {} lengths x {} noises, {})\n",
      output.lines.size(), output.seconds,
      static_cast<double>(output.lines.size()) / output.seconds, output.nfe, generation.lengths,
      generation.noises, name_of(generation.selection));
  return text;
}

Json json_report(const EvaluateCommand& command, const std::vector<Measurement>& measured,
                 const std::vector<Contest>& compared, const Output& output, double exact,
                 const model::GenerationOptions& generation) {
  Json metrics = Json::array();
  for (size_t k = 0; k < measured.size(); ++k) {
    Json json{{"name", measured[k].name},
              {"score", measured[k].score},
              {"signature", measured[k].signature},
              {"line", measured[k].line}};
    json.update(measured[k].details);
    if (!compared.empty())
      json["comparison"] = {{"other", command.other.string()},
                            {"signature", compared[k].signature},
                            {"other_score", compared[k].result.baseline.score},
                            {"difference", compared[k].result.difference},
                            {"p_value", compared[k].result.p_value}};
    metrics.push_back(json);
  }
  return {{"split", command.split},
          {"sentences", output.lines.size()},
          {"metrics", metrics},
          {"exact_match", exact},
          {"nfe", output.nfe},
          {"lengths", generation.lengths},
          {"noises", generation.noises},
          {"selection", name_of(generation.selection)},
          {"seed", generation.sampler.seed},
          {"seconds", output.seconds},
          {"sentences_per_second", static_cast<double>(output.lines.size()) / output.seconds}};
}

void run_evaluate(const EvaluateCommand& command, const GlobalOptions& globals) {
  const fs::path folder =
      model::find_model_folder(command.settings.folder, command.settings.checkpoint);
  const Sentences sentences = read_sentences(command);
  const Lines other = read_other(command, sentences.sources.size());
  std::optional<AtomicFile> file;  // opened now: what cannot be written is known before the work
  if (!command.out.empty()) file.emplace(command.out);
  const model::LoadedModel loaded = model::load_model_folder(folder, parse_device(globals.device));
  const MeasureOptions measuring = measure_options(command, loaded.tokenizer.raw());
  const model::Generator generator(*loaded.model,
                                   changed(loaded.generation, command.settings, globals.seed));
  const Output output = translate(loaded, generator, sentences.sources, command.profile);
  if (file) {
    for (const std::string& line : output.lines) file->write(line + "\n");
    file->commit();
  }

  const std::vector<Lines> references{sentences.references};
  const auto measured = measure(output.lines, references, measuring);
  std::vector<Contest> compared;
  if (!other.empty())
    compared =
        contests(measured, measure(other, references, measuring), {command.samples, globals.seed});
  const double exact = exact_match(output.lines, sentences.references);
  if (globals.json)
    std::cout
        << json_report(command, measured, compared, output, exact, generator.options()).dump(2)
        << '\n';
  else
    std::cout << text_report(command, measured, compared, output, exact, generator.options());
}

}  // namespace

void add_evaluate(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* evaluate = program.add_subcommand(
      "evaluate", "measure a model on a split of its corpus: scores, speed, exact matches");
  auto command = std::make_shared<EvaluateCommand>();
  add_generation_options(*evaluate, command->settings);
  evaluate->add_option("--split", command->split, "part of the corpus: test, valid, ...")
      ->capture_default_str();
  evaluate
      ->add_option("--data", command->data,
                   "folder that `tessera prepare` wrote (default: that of the run)")
      ->option_text("DIR");
  evaluate->add_option("--limit", command->limit, "take the first N sentences only")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  evaluate
      ->add_option("--metric", command->metrics,
                   "what to compute, separated by commas: bleu, chrf, chrf++, rouge")
      ->delimiter(',')
      ->capture_default_str();
  evaluate
      ->add_option("--tokenize", command->tokenization,
                   "for BLEU: 13a or none (default: none for text that was tokenised already, 13a "
                   "for raw text)")
      ->option_text("13a|none");
  evaluate->add_flag("--lowercase", command->lowercase,
                     "let capitals and small letters be the same");
  evaluate->add_option("--out", command->out, "write the sentences to a file")->option_text("FILE");
  evaluate
      ->add_option("--compare", command->other,
                   "another system's sentences: is the difference more than chance? (paired "
                   "bootstrap, with --seed)")
      ->option_text("FILE");
  evaluate->add_option("--samples", command->samples, "for --compare: how often to draw lines")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  evaluate
      ->add_option("--profile", command->profile,
                   "generate once more: where the time goes, and a trace of it for "
                   "chrome://tracing")
      ->option_text("FILE");
  evaluate->callback([command, &globals] { run_evaluate(*command, globals); });
}

}  // namespace tessera::app
